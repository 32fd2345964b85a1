import { TextHash } from '../../protocol/text/textHash.ts'

/** The longest name that every provider takes. */
const longest = 64

const hashOf = (text: string): string => {
  const [low, high] = new TextHash().add(text).value.split('.')
  return `${high}${low}`.slice(0, 6)
}

/** At most 64 characters; of a longer one the end is a fingerprint of the whole, so that two stay apart. */
const cut = (name: string): string => (name.length <= longest ? name : `${name.slice(0, longest - 7)}_${hashOf(name)}`)

/**
 * A name that every provider takes, from one that they may not: 1 to 64 letters, digits, `_` or `-`. For sources, whose tools are named
 * elsewhere. The same name always gives the same result.
 */
export const toolName = (name: string): string => cut(name.replaceAll(/[^A-Za-z0-9_-]/g, '_') || 'tool')

/** The names that a source's tool may have, the first choice first: its own, unless that is taken. */
export function* namesFor(source: string, name: string): Generator<string, never, undefined> {
  yield name
  yield toolName(`${source}_${name}`)
  for (let n = 2; ; n++) yield toolName(`${source}_${name}_${n}`)
}
