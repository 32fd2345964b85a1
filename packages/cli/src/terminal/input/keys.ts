/** Input from a terminal: typed characters, a paste, or a key by its name, with its modifiers before it in this order: `ctrl+alt+shift+left`. */
export type Key =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'paste'; readonly text: string }
  | { readonly type: 'key'; readonly name: string }

const escape = '\u001B'
const pasteEnds = `${escape}[201~`

/** Keys by the last letter of a control sequence. */
const finals: Readonly<Record<string, string>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  F: 'end',
  H: 'home',
  I: 'focusIn',
  O: 'focusOut',
  Z: 'shift+tab',
}

/** Keys by the number of a control sequence that ends with `~`. */
const numbered: Readonly<Record<string, string>> = {
  1: 'home',
  2: 'insert',
  3: 'delete',
  4: 'end',
  5: 'pageUp',
  6: 'pageDown',
  7: 'home',
  8: 'end',
}

/** Keys by control character. All other characters below a space are Ctrl with a letter. */
const controls: Readonly<Record<number, string>> = {
  0: 'ctrl+space',
  8: 'backspace',
  9: 'tab',
  10: 'enter',
  13: 'enter',
  27: 'escape',
  127: 'backspace',
}

/** Keys of the keypad that have a code of their own in kitty's protocol. */
const keypad: Readonly<Record<number, string>> = {
  57_414: 'enter',
  57_417: 'left',
  57_418: 'right',
  57_419: 'up',
  57_420: 'down',
}

const named = (name: string): Key => ({ type: 'key', name })

/** Bits of a modifier's number minus 1. Locks have no effect; a key with any other modifier is ignored. */
const bits = { shift: 1, alt: 2, ctrl: 4, others: 8 | 16 | 32 }

/** Returns the name of a key with the modifiers of a control sequence, such as 5 for Ctrl. */
function modified(name: string, modifier: number): string | undefined {
  const pressed = modifier - 1
  if ((pressed & bits.others) !== 0) return undefined
  const words = (['ctrl', 'alt', 'shift'] as const).filter((word) => (pressed & bits[word]) !== 0)
  return [...words, name].join('+')
}

/** Returns the key for a code point, as in `CSI code ; modifier u` and `CSI 27 ; modifier ; code ~`. */
function coded(code: number, modifier: number): Key | undefined {
  const control = controls[code] ?? keypad[code]
  if (control !== undefined) {
    const name = modified(control, modifier)
    return name === undefined ? undefined : named(name)
  }
  // Below are Ctrl with a letter, which have no code of their own; above is the private area, where keys without text are.
  if (!(code >= 32 && code <= 0x10ffff) || (code >= 0xd800 && code <= 0xf8ff)) return undefined
  const character = String.fromCodePoint(code)
  if (((modifier - 1) & (bits.ctrl | bits.alt | bits.others)) === 0)
    return { type: 'text', text: modifier === 2 ? character.toUpperCase() : character }
  const name = modified(character === ' ' ? 'space' : character.toLowerCase(), modifier)
  return name === undefined ? undefined : named(name)
}

/** Returns the key for a control sequence; `undefined` if there is none. */
function sequenceKey(parameters: string, final: string): Key | undefined {
  const [first = '', second = '', third = ''] = parameters.split(';')
  const [modifier = '', event = ''] = second.split(':')
  // Released.
  if (event === '3') return undefined
  const pressed = modifier === '' ? 1 : Number(modifier)
  if (final === 'u') return coded(Number(first.split(':', 1)[0]), pressed)
  if (final === '~' && first === '27' && third !== '') return coded(Number(third), pressed)
  const name = final === '~' ? numbered[first] : finals[final]
  const whole = name === undefined ? undefined : modified(name, pressed)
  return whole === undefined ? undefined : named(whole)
}

// oxlint-disable-next-line no-control-regex -- an escape sequence begins with one
const sequence = /^\u001B(?:\[([\d;:?<>=]*)([@-~])|O([A-Za-z]))/
/** Matches an escape sequence that may be incomplete, of a bounded length. */
// oxlint-disable-next-line no-control-regex -- an escape sequence begins with one
const begun = /^\u001B(?:\u001B?(?:\[[\d;:?<>=]{0,64})?|\u001B?O)$/
// oxlint-disable-next-line no-control-regex -- what is no text
const textRun = /^[^\u0000-\u001F\u007F-\u009F]+/

/** Converts a terminal's input, in pieces of any size, to keys. It holds back an incomplete beginning. */
export class KeyReader {
  #held = ''
  /** The paste so far; a long one arrives in many pieces. */
  #pasted: string[] | undefined
  /** True if the last character was a carriage return. A line feed right after it is the same key. */
  #wasReturn = false

  /** True if the held input is the beginning of a sequence and would be a key by itself. */
  get isHolding(): boolean {
    return this.#held !== '' && this.#pasted === undefined
  }

  /** Returns the keys that these characters complete. */
  take(came: string): Key[] {
    // A lone key that was not pasted: the end of the paste never came.
    if (this.#pasted !== undefined && (came === '\u0003' || came === `${escape}[99;5u`)) {
      this.#pasted = undefined
      this.#held = ''
    }
    const keys: Key[] = []
    let rest = this.#held + came
    this.#held = ''
    while (rest !== '') rest = this.#pasted === undefined ? this.#read(rest, keys) : this.#paste(rest, keys)
    return keys
  }

  /** Returns the keys of the held input once it is known that no more follows: Esc, or Alt with a character. */
  flush(): Key[] {
    if (!this.isHolding) return []
    const held = this.#held
    this.#held = ''
    if (held === escape) return [named('escape')]
    if (held === escape + escape) return [named('escape'), named('escape')]
    const last = held.at(-1)!
    return last === '[' || last === 'O' ? [named(`alt+${last.toLowerCase()}`)] : []
  }

  /** Adds the next key of a text; returns the rest of the text. */
  #read(text: string, keys: Key[]): string {
    const wasReturn = this.#wasReturn
    this.#wasReturn = text.startsWith('\r')
    const typed = textRun.exec(text)?.[0]
    if (typed !== undefined) {
      keys.push({ type: 'text', text: typed })
      return text.slice(typed.length)
    }
    if (text.startsWith(escape)) return this.#escaped(text, keys)
    const code = text.charCodeAt(0)
    if (code === 10 && wasReturn) return text.slice(1)
    const name = controls[code] ?? (code < 32 ? `ctrl+${String.fromCharCode(code + 64).toLowerCase()}` : undefined)
    if (name !== undefined) keys.push(named(name))
    return text.slice(1)
  }

  #escaped(text: string, keys: Key[]): string {
    if (begun.test(text)) {
      this.#held = text
      return ''
    }
    // Alt with a key that is a sequence itself.
    const isAlt = text.startsWith(escape + escape) && sequence.test(text.slice(1))
    const found = sequence.exec(isAlt ? text.slice(1) : text)
    if (found !== null) {
      const [whole, parameters = '', final, letter] = found
      const rest = text.slice(whole.length + (isAlt ? 1 : 0))
      if (final === '~' && parameters === '200') {
        this.#pasted = []
        return rest
      }
      const key = sequenceKey(parameters, final ?? letter!)
      if (key !== undefined) keys.push(isAlt && key.type === 'key' ? named(`alt+${key.name}`) : key)
      return rest
    }
    const next = text.codePointAt(1)!
    // One that is endless, or Esc before another.
    if (next === 0x5b || next === 0x1b) {
      keys.push(...(next === 0x1b ? [named('escape')] : []))
      return text.slice(next === 0x1b ? 1 : 2)
    }
    const character = String.fromCodePoint(next)
    const control = controls[next] ?? (next < 32 ? `ctrl+${String.fromCharCode(next + 64)}` : character)
    keys.push(named(`alt+${control === ' ' ? 'space' : control.toLowerCase()}`))
    return text.slice(1 + character.length)
  }

  #paste(text: string, keys: Key[]): string {
    const pieces = this.#pasted!
    const at = text.indexOf(pasteEnds)
    const held = at === -1 ? beginningOf(pasteEnds, text) : 0
    this.#held = text.slice(text.length - held)
    pieces.push(text.slice(0, at === -1 ? text.length - held : at))
    if (at === -1) return ''
    this.#pasted = undefined
    keys.push({ type: 'paste', text: pieces.join('') })
    return text.slice(at + pasteEnds.length)
  }
}

/** Returns the length of the longest suffix of a text that could be the beginning of a mark. */
function beginningOf(mark: string, text: string): number {
  for (let length = Math.min(mark.length - 1, text.length); length > 0; length--)
    if (mark.startsWith(text.slice(-length))) return length
  return 0
}
