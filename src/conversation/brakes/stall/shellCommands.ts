/** A simple command of a shell text: its words without quotes, and how it ends. */
export interface ShellCommand {
  readonly words: readonly string[]
  /** True if the shell does not wait for it: it ends with a single `&`. */
  readonly isBackground: boolean
}

/** Number of characters of a shell text that are read. */
export const readShellChars = 20_000

const separators = new Set(['\n', ';', '|', '&', '(', ')', '`'])
const blanks = new Set([' ', '\t', '\r', '<', '>'])

/**
 * Splits a shell text, of `sh` or PowerShell, into its simple commands. Quoted text, comments and here-documents are no
 * commands. It reads each character at most twice and never throws. Pure.
 */
export function shellCommands(text: string): ShellCommand[] {
  const reader = new ShellReader(text.slice(0, readShellChars))
  while (!reader.isAtEnd) reader.step()
  return reader.finish()
}

class ShellReader {
  readonly #text: string
  readonly #commands: ShellCommand[] = []
  readonly #documents: string[] = []
  #at = 0
  #words: string[] = []
  #word: string | undefined

  constructor(text: string) {
    this.#text = text
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length
  }

  step(): void {
    const char = this.#text[this.#at]!
    if (char === "'" || char === '"') return this.#readQuoted(char)
    if (char === '\\') return this.#readEscaped()
    if (char === '#' && this.#word === undefined) return this.#skipTo('\n')
    if (char === '<' && this.#text.startsWith('<<', this.#at)) return this.#readDocumentMark()
    this.#at += 1
    if (separators.has(char) || this.#isBrace(char)) return this.#endCommand(char)
    if (blanks.has(char)) return this.#endWord()
    this.#word = (this.#word ?? '') + char
  }

  /** Returns true if a brace groups commands: `{` where no word is open, and `}` unless it ends a `${name}`. */
  #isBrace(char: string): boolean {
    return char === '{' ? this.#word === undefined : char === '}' && this.#word?.includes('{') !== true
  }

  finish(): ShellCommand[] {
    this.#endCommand('')
    return this.#commands
  }

  #readQuoted(quote: string): void {
    let word = this.#word ?? ''
    let at = this.#at + 1
    while (at < this.#text.length && this.#text[at] !== quote) {
      if (quote === '"' && this.#text[at] === '\\') at += 1
      word += this.#text[at] ?? ''
      at += 1
    }
    this.#word = word
    this.#at = at + 1
  }

  #readEscaped(): void {
    const next = this.#text[this.#at + 1] ?? ''
    if (next !== '\n') this.#word = (this.#word ?? '') + next
    this.#at += 2
  }

  #skipTo(char: string): void {
    const end = this.#text.indexOf(char, this.#at)
    this.#at = end < 0 ? this.#text.length : end
  }

  /** Reads `<<END`, `<<-'END'` and `<<< word`; the document begins with the next line. */
  #readDocumentMark(): void {
    this.#endWord()
    const isText = this.#text.startsWith('<<<', this.#at)
    this.#at += isText ? 3 : 2
    if (isText) return
    while ('-~ \t'.includes(this.#text[this.#at] ?? 'x')) this.#at += 1
    const begin = this.#at
    while (/[\w'".-]/.test(this.#text[this.#at] ?? ' ')) this.#at += 1
    const mark = this.#text.slice(begin, this.#at).replaceAll(/['"]/g, '')
    if (mark !== '') this.#documents.push(mark)
  }

  #endWord(): void {
    if (this.#word !== undefined) this.#words.push(this.#word)
    this.#word = undefined
  }

  #endCommand(separator: string): void {
    const [last, next] = [this.#text[this.#at - 2], this.#text[this.#at]]
    this.#endWord()
    // In `2>&1` and `&>file` nothing ends.
    if (separator === '&' && (last === '>' || next === '>')) return
    const isBackground = separator === '&' && last !== '&' && next !== '&'
    if (this.#words.length > 0) this.#commands.push({ words: this.#words, isBackground })
    this.#words = []
    if (separator === '\n') this.#skipDocuments()
  }

  #skipDocuments(): void {
    for (const mark of this.#documents.splice(0))
      while (!this.isAtEnd) {
        const begin = this.#at
        this.#skipTo('\n')
        const line = this.#text.slice(begin, this.#at).trim()
        this.#at += 1
        if (line === mark) break
      }
  }
}
