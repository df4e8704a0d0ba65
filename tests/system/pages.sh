#!/bin/sh
# Runs inside the root of Debian that run.sh makes. Checks that no manual page has a warning, and that shells load completions which contain
# the commands.
set -eu
pages=$(ls /usr/share/man/man1/vkloader*.gz /usr/share/man/man8/vk-loader-service*.gz /usr/share/man/man5/vk-loader-service.json.5.gz \
    /usr/share/man/man7/vulkan-loader.7.gz)
for page in $pages; do
    words=$(MANWIDTH=80 man --warnings --encoding=UTF-8 --local-file "$page" 2>&1 >/dev/null)
    [ -z "$words" ] || { echo "$page: $words"; exit 1; }
done
echo "figure $(echo "$pages" | wc -l) manual pages"
for name in vkloader vk-loader-service; do
    word=$([ $name = vkloader ] && echo catalogue || echo --print-config)
    bash -c "
        . /usr/share/bash-completion/bash_completion
        _completion_loader $name
        COMP_WORDS=($name ${word%??}) COMP_CWORD=1 COMP_LINE='$name ${word%??}' COMP_POINT=\${#COMP_LINE}
        set -- \$(complete -p $name | sed 's/.*-F \([^ ]*\).*/\1/')
        \$1 $name ${word%??} $name
        case \" \${COMPREPLY[*]} \" in *' $word '*) ;; *) echo \"bash: \${COMPREPLY[*]}\"; exit 1 ;; esac"
    zsh -fuc "autoload -U compinit && compinit -D && [ \"\$_comps[$name]\" = _$name ] && autoload -U +X _$name"
    fish -c "complete -C '$name ${word%??}'" | grep -q -e "^$word"
done
echo "figure completions in bash, zsh and fish"
