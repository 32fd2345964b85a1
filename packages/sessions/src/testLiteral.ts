/**
 * Returns a JSON value as TypeScript that evaluates to it. No text in it can end a string, line or comment, and a key such as `__proto__`
 * is an ordinary key. `indent`: number of spaces before each line after the first. Pure.
 */
export function testLiteral(value: unknown, indent = 0): string {
  if (typeof value !== 'object' || value === null) return oneLine(value)
  const parts = Array.isArray(value)
    ? value.map((item) => testLiteral(item, indent + 2))
    : Object.entries(value).map(([key, item]) => `${keyOf(key)}: ${testLiteral(item, indent + 2)}`)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  if (parts.length === 0) return `${open}${close}`
  const flat = parts.join(', ')
  const isShort = flat.length + indent < 80 && !flat.includes('\n')
  if (isShort) return open === '[' ? `[${flat}]` : `{ ${flat} }`
  const pad = ' '.repeat(indent + 2)
  return `${open}\n${parts.map((part) => `${pad}${part},\n`).join('')}${' '.repeat(indent)}${close}`
}

/** Characters that people or parsers misread: line separators would end a comment, others make one line look like another. */
const misread = /[\u0085\u061C\u200B-\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/g

/** Formats a value as `JSON.stringify` does, and escapes characters that people or parsers misread. */
const oneLine = (value: unknown): string =>
  (JSON.stringify(value) ?? 'undefined').replace(
    misread,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

function keyOf(key: string): string {
  if (key === '__proto__') return '["__proto__"]'
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : oneLine(key)
}
