/** Comments, strings and templates: what stands in them is no key. One that is not closed is none the less begun only once. */
const notCode = /\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)|'(?:\\.|[^'\\\n])*'?|"(?:\\.|[^"\\\n])*"?|`(?:\\[^]|[^`\\])*`?/g

const blank = (text: string): string => text.replaceAll(/[^\n]/g, ' ')

/** The source with everything blanked that is not code; strings stay where a colon makes them a key. */
function codeOf(source: string): string {
  return source.replaceAll(notCode, (found, at: number) => {
    const isKey = /^['"]/.test(found) && /^\s*:/.test(source.slice(at + found.length))
    return isKey ? found : blank(found)
  })
}

/** Escapes what has a meaning in patterns. */
const literally = (text: string): string => text.replaceAll(/[^\w]/g, String.raw`\$&`)

/**
 * The line, from 1, on which the key at a path of an object literal is written: each key is looked for after the one that holds it.
 * `undefined` if one is not there, as when the value is computed. Pure.
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
