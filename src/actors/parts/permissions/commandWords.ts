/** Maximum length of a line that is examined, in UTF-16 units. */
const longestLine = 10_000

/** Tokens of a line that are understood. Beyond ASCII only letters and digits count, because shells differ about blanks. */
const blank = /[ \t]+/y
const commandEnd = /;|\n|&&|\|\|?(?!&)/y
const quoted = /'([^'\0]*)'|"([^"$`\\!\0]*)"/y
const bare = /[\w\-./:=,@%+\p{L}\p{N}]+/uy

/** Commands that run other commands given as arguments, and words of the shell's own language. */
const runsOthers = new Set(
  (
    '. alias bash builtin busybox case command coproc dash declare do doas done elif else env esac eval exec export fi fish for function ' +
    'if in ksh local nice nohup parallel readonly select set setsid sh source ssh stdbuf su sudo then time timeout trap typeset ' +
    'unalias until watch while xargs zsh'
  ).split(' '),
)

const assignment = /^\w+\+?=/

/**
 * Returns the simple commands of a shell line as lists of words, if it has only words, plain quotes and `;`, `&&`,
 * `||`, `|` or new lines between them; `undefined` if it may have more. Pure. Takes time proportional to the line.
 */
export function simpleCommands(line: string): readonly (readonly string[])[] | undefined {
  if (line.length > longestLine) return undefined
  const commands: string[][] = []
  let words: string[] = []
  let word: string | undefined
  const endWord = (): void => {
    if (word !== undefined) words.push(word)
    word = undefined
  }
  const endCommand = (): void => {
    endWord()
    if (words.length > 0) commands.push(words)
    words = []
  }
  let at = 0
  const take = (part: RegExp): RegExpExecArray | null => {
    part.lastIndex = at
    const found = part.exec(line)
    if (found !== null) at += found[0].length
    return found
  }
  while (at < line.length) {
    if (take(blank) !== null) endWord()
    else if (take(commandEnd) !== null) endCommand()
    else {
      const found = take(quoted) ?? take(bare)
      if (found === null) return undefined
      word = (word ?? '') + (found[1] ?? found[2] ?? found[0])
    }
  }
  endCommand()
  return commands.some(([first = '']) => assignment.test(first) || runsOthers.has(nameIn(first))) ? undefined : commands
}

/** Returns each word at which a command could begin in a line that is not understood, with the words that follow it. */
export function roughCommands(line: string): readonly (readonly string[])[] {
  const words = line
    .slice(0, longestLine)
    .replaceAll(/['"\\]/g, '')
    .split(/[\s;&|(){}`$<>]+/)
    .filter((word) => word !== '')
  return words.map((_, index) => words.slice(index, index + mostWords))
}

/** Maximum number of words of a pattern, so that a search at every word takes time proportional to the line. */
export const mostWords = 50

/** Returns the name of a command without its folder. */
export const nameIn = (command: string): string => command.slice(command.lastIndexOf('/') + 1)
