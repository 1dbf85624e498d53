# What zsh offers at the end of a line, one a line: offers.zsh DATA-DIRECTORY WORD...
#
# Completion works only where somebody types, so a shell on a pseudo-terminal is typed to; what is about to be offered is
# printed between signs.
zmodload zsh/zpty
directory=${(qq)1}/zsh/site-functions
shift
zpty shell zsh -f -i
zpty -w shell "PS1=; PS2=; fpath=($directory \$fpath); autoload -Uz compinit; compinit -u -D
compadd() {
    if [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd \"\$@\"; return; fi
    local -a hits
    builtin compadd -O hits \"\$@\"
    (( \$#hits )) && print -rl -- '<'\${^hits}'>'
}
finish() { print -r -- '<END>'; exit }
comppostfuncs=(finish)
bindkey '^I' complete-word
print -r REA\"\"DY"
zpty -r -m shell start '*READY*'
zpty -w -n shell "$*"$'\t'
zpty -r -m shell answer '*<END>*'
print -rl -- ${(f)answer} | tr -d '\r' | sed -n 's/^.*<\(.*\)>$/\1/p' | grep -vx END
zpty -d shell
