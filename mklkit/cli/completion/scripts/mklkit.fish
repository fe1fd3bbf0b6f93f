# Completion of mklkit in fish; 'mklkit --install-completion' puts it in place.

function __mklkit_complete
    set -lx _MKLKIT_COMPLETE fish
    set -lx _MKLKIT_LINE (commandline --current-process --cut-at-cursor | string collect)
    set -l words (commandline --current-process --tokenize)
    set -l answer ($words[1] 2>/dev/null)
    set -q answer[2]; and printf '%s\n' $answer[2..-1]
    set -l token (commandline --current-token --cut-at-cursor)
    set -l start (string match --regex -- '^--[^=]*=' "$token"); or set start ''
    # What fish offers after a command that it knows nothing of: files.
    set -l path (string replace --regex -- '^--[^=]*=' '' "$token")
    set -l files (complete --do-complete "'' $path")
    switch "$answer[1]"
        case files
            printf '%s\n' $start$files
        case folders
            printf '%s\n' $start(string match -- '*/' $files)
    end
end

complete --command mklkit --no-files --keep-order --arguments '(__mklkit_complete)'
