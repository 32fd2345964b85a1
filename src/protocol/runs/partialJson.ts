/** Maximum nesting depth that is read. Deeper values are left out. */
const maxDepth = 256

/** A value, with `isWhole` true if it is complete; `undefined` if too little of it has arrived. */
type Read = { readonly value: unknown; readonly isWhole: boolean } | undefined

/**
 * Returns the value of an incomplete JSON text. A string ends where the text ends. Incomplete members, numbers and words are left out, so the value
 * only grows. Text that is not JSON ends the value. Linear time.
 */
export function readPartialJson(text: string): unknown {
  return new Reader(text).value(0)?.value
}

const word = /(?:true|false|null)(?![\w])/y
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?=[\s,\]}])/y
const words: Readonly<Record<string, unknown>> = { true: true, false: false, null: null }

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  value(depth: number): Read {
    const sign = this.#skipTo()
    if (sign === '"') return this.#string()
    if (depth >= maxDepth) return undefined
    if (sign === '{') return this.#object(depth + 1)
    if (sign === '[') return this.#array(depth + 1)
    const known = this.#match(word)
    if (known !== undefined) return { value: words[known], isWhole: true }
    const digits = this.#match(number)
    return digits === undefined ? undefined : { value: Number(digits), isWhole: true }
  }

  #object(depth: number): Read {
    const value: Record<string, unknown> = {}
    const part = { value, isWhole: false }
    this.#at += 1
    if (this.#take('}')) return { value, isWhole: true }
    for (;;) {
      const key = this.#skipTo() === '"' ? this.#string() : undefined
      if (key?.isWhole !== true || !this.#take(':')) return part
      const member = this.value(depth)
      // `__proto__` is a name like any other.
      if (member !== undefined)
        Object.defineProperty(value, key.value as string, {
          value: member.value,
          enumerable: true,
          configurable: true,
          writable: true,
        })
      if (member?.isWhole !== true) return part
      if (this.#take('}')) return { value, isWhole: true }
      if (!this.#take(',')) return part
    }
  }

  #array(depth: number): Read {
    const value: unknown[] = []
    this.#at += 1
    if (this.#take(']')) return { value, isWhole: true }
    for (;;) {
      const item = this.value(depth)
      if (item !== undefined) value.push(item.value)
      if (item?.isWhole !== true) return { value, isWhole: false }
      if (this.#take(']')) return { value, isWhole: true }
      if (!this.#take(',')) return { value, isWhole: false }
    }
  }

  #string(): Read {
    const text = this.#text
    const start = this.#at + 1
    let end = start
    let escape = -1
    while (end < text.length && text[end] !== '"') {
      if (text[end] === '\\') escape = end
      end += text[end] === '\\' ? 2 : 1
    }
    const isWhole = end < text.length
    this.#at = isWhole ? end + 1 : text.length
    const stop = isWhole ? end : wholeUntil(text, escape)
    const value = unquote(text.slice(start, Math.max(start, stop)))
    return value === undefined ? undefined : { value, isWhole }
  }

  /** Returns the next character that is not white space. */
  #skipTo(): string | undefined {
    while (' \t\r\n'.includes(this.#text[this.#at] ?? '.')) this.#at += 1
    return this.#text[this.#at]
  }

  #take(sign: string): boolean {
    if (this.#skipTo() !== sign) return false
    this.#at += 1
    return true
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    this.#at += found?.length ?? 0
    return found
  }
}

/** Returns the end of the last complete character in a text that ends within a string. `escape` is the start of its last escape. */
function wholeUntil(text: string, escape: number): number {
  const last = escape === -1 ? '' : text.slice(escape)
  const isCut = last !== '' && last.length < (last[1] === 'u' ? 6 : 2)
  // One half of a pair of surrogates is no sign.
  if (isCut || /^\\u[dD][89abAB]..$/.test(last)) return escape
  return /[\uD800-\uDBFF]/.test(text.at(-1) ?? '') ? text.length - 1 : text.length
}

function unquote(written: string): string | undefined {
  try {
    return JSON.parse(`"${written}"`) as string
  } catch {
    return undefined
  }
}
