import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { Metadata } from '../../../../src/protocol/metadata.ts'

/** Reads the value of `--metadata`, such as `user=u1,plan=2`. @throws RuntimeError `INVALID_OPTION` */
export function readMetadata(text: string): Metadata {
  const pairs = text.split(',').map((pair): [string, string | number | boolean] => {
    const at = pair.indexOf('=')
    if (at <= 0) throw new RuntimeError('INVALID_OPTION', `--metadata "${text}": give pairs, like user=u1,plan=2.`)
    return [pair.slice(0, at), valueOf(pair.slice(at + 1))]
  })
  return Object.fromEntries(pairs)
}

/** Reads a value in code notation: a number, a boolean, or a string, which needs quotes only if it looks like one of those. */
function valueOf(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  if (/^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text)) return Number(text)
  return /^".*"$/s.test(text) ? text.slice(1, -1) : text
}
