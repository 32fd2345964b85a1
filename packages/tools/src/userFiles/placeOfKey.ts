/** Matches comments, strings and templates, which hold no keys. An unclosed one is matched up to the end, and only once. */
const notCode = /\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)|'(?:\\.|[^'\\\n])*'?|"(?:\\.|[^"\\\n])*"?|`(?:\\[^]|[^`\\])*`?/g

const blank = (text: string): string => text.replaceAll(/[^\n]/g, ' ')

/** Returns the source with everything blanked except code; strings stay where a colon makes them a key. */
function codeOf(source: string): string {
  return source.replaceAll(notCode, (found, at: number) => {
    const isKey = /^['"]/.test(found) && /^\s*:/.test(source.slice(at + found.length))
    return isKey ? found : blank(found)
  })
}

/** Returns a text with the special characters of patterns escaped. */
const literally = (text: string): string => text.replaceAll(/[^\w]/g, String.raw`\$&`)

/**
 * Returns the line, from 1, of the key at a path of an object literal: each key is searched for
 * after its parent. `undefined` if a key is not there, as when the value is computed. Pure.
 */
export function placeOfKey(source: string, path: readonly PropertyKey[]): number | undefined {
  const code = codeOf(source)
  let at = Math.max(0, code.indexOf('export default'))
  for (const key of path) {
    // An entry of a list has no key: its list is near enough.
    if (typeof key !== 'string') continue
    const pattern = new RegExp(String.raw`(?<![\w$.'"])(['"]?)${literally(key)}\1(?=\s*[:,}(]|\s*$)`, 'gm')
    pattern.lastIndex = at
    const found = pattern.exec(code)
    if (found === null) return undefined
    at = found.index + found[0].length
  }
  return code.slice(0, at).split('\n').length
}
