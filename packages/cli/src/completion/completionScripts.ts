import type { CompletedCommand, Completes } from './completed.ts'

/** Returns a text in single quotes for a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** Shell command that prints the ids of the folder's sessions, one per line; nothing if there are none. The sessions come as JSON, one per line. */
const idsOfFolder = String.raw`escapement sessions --json 2>/dev/null | sed -n 's/^{"id":"\([^"]*\)".*/\1/p'`

const namesThat = (
  commands: readonly CompletedCommand[],
  isSo: (command: CompletedCommand) => boolean,
): readonly string[] => commands.filter(isSo).map(({ name }) => name)

/** Returns a `case` branch for these names; nothing without any. */
const branch = (names: readonly string[], action: string): string =>
  names.length === 0 ? '' : `    ${names.join('|')}) ${action} ;;\n`

/** Returns the options, with dashes, whose values are completed in the given way. */
const optionsWith = (commands: readonly CompletedCommand[], value: Completes): readonly string[] => [
  ...new Set(
    commands.flatMap(({ options }) => options.filter((each) => each.value === value).map(({ name }) => `--${name}`)),
  ),
]

function bash(commands: readonly CompletedCommand[]): string {
  const reply = (generator: string): string => `COMPREPLY=($(compgen ${generator} -- "$current"))`
  const options = commands.map(({ name, options: of }) =>
    branch(
      [name],
      reply(
        `-W ${quoted(
          of
            .map((each) => `--${each.name}`)
            .concat('--help')
            .join(' '),
        )}`,
      ),
    ),
  )
  return `# bash completion of escapement
_escapement() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    ${reply(`-W ${quoted(commands.map(({ name }) => name).join(' '))}`)}
    return
  fi
  case $previous in
${branch(optionsWith(commands, 'folder'), `${reply('-d')}; return`)}${branch(optionsWith(commands, 'file'), `${reply('-f')}; return`)}${branch(optionsWith(commands, 'nothing'), 'return')}  esac
  if [[ $current == -* ]]; then
    case \${COMP_WORDS[1]} in
${options.join('')}    esac
    return
  fi
  case \${COMP_WORDS[1]} in
${branch(
  namesThat(commands, ({ operand }) => operand === 'session'),
  reply(`-W "$(${idsOfFolder})"`),
)}${branch(
    namesThat(commands, ({ operand }) => operand === 'file'),
    reply('-f'),
  )}  esac
}
complete -o filenames -F _escapement escapement
`
}

const zshActions: Readonly<Record<Completes, string>> = {
  file: '_files',
  folder: '_files -/',
  session: '_escapement_sessions',
  nothing: ' ',
}

/** Returns a description for an argument of `_arguments`, where colons and brackets separate fields. */
const zshText = (text: string): string => text.replaceAll(/[[\]:\\]/g, String.raw`\$&`)

function zsh(commands: readonly CompletedCommand[]): string {
  const argumentsOf = ({ options, operand }: CompletedCommand): string =>
    [
      ...options.map(({ name, meaning, value }) =>
        quoted(`--${name}[${zshText(meaning)}]${value === undefined ? '' : `:value:${zshActions[value]}`}`),
      ),
      quoted(`*:operand:${zshActions[operand]}`),
    ].join(' ')
  return `#compdef escapement
_escapement_sessions() {
  local -a ids
  ids=(\${(f)"$(${idsOfFolder})"})
  compadd -a ids
}
_escapement() {
  local -a commands
  if ((CURRENT == 2)); then
    commands=(${commands.map(({ name, summary }) => quoted(`${name}:${zshText(summary)}`)).join(' ')})
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT -= 1))
  case $command in
${commands.map((command) => branch([command.name], `_arguments ${argumentsOf(command)}`)).join('')}  esac
}
if [ "$funcstack[1]" = _escapement ]; then
  _escapement "$@"
elif (( $+functions[compdef] )); then
  compdef _escapement escapement
fi
`
}

const fishArguments: Readonly<Record<Completes, string>> = {
  file: '-r -F',
  folder: `-x -a ${quoted('(__fish_complete_directories)')}`,
  session: `-x -a ${quoted('(__escapement_sessions)')}`,
  nothing: '-x',
}

function fish(commands: readonly CompletedCommand[]): string {
  const lines = commands.flatMap(({ name, summary, operand, options }) => {
    const here = `complete -c escapement -n ${quoted(`__fish_seen_subcommand_from ${name}`)}`
    return [
      `complete -c escapement -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`,
      ...(operand === 'session' || operand === 'file'
        ? [`${here} ${operand === 'file' ? '-F' : `-a ${quoted('(__escapement_sessions)')}`}`]
        : []),
      ...options.map(
        (each) =>
          `${here} -l ${each.name} -d ${quoted(each.meaning)}${each.value === undefined ? '' : ` ${fishArguments[each.value]}`}`,
      ),
    ]
  })
  return `# fish completion of escapement
function __escapement_sessions
  ${idsOfFolder}
end
complete -c escapement -f
${lines.join('\n')}
`
}

/** Functions that create a shell's completion script, by shell. */
export const completionScripts: Readonly<Record<string, (commands: readonly CompletedCommand[]) => string>> = {
  bash,
  zsh,
  fish,
}
