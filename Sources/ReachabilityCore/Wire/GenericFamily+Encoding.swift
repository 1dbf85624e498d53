extension GenericFamily {
    /// Appends `struct genlmsghdr` of a `CTRL_CMD_NEWFAMILY` and the attributes; groups in the order of their names.
    func append(to builder: inout NetlinkMessageBuilder) {
        builder.append(bytes: [CTRL.newFamily, CTRL.version, 0, 0])
        builder.attribute(CTRL.familyName, string: name)
        builder.attribute(CTRL.familyID, id)
        guard !groups.isEmpty else { return }
        builder.nested(CTRL.multicastGroups) { list in
            for (position, group) in groups.sorted(by: { $0.key < $1.key }).enumerated() {
                list.nested(UInt16(clamping: position + 1)) { entry in
                    entry.attribute(CTRL.groupID, group.value)
                    entry.attribute(CTRL.groupName, string: group.key)
                }
            }
        }
    }
}
