import { TextHash } from '../../protocol/text/textHash.ts'

/** Maximum length of a name that every provider accepts. */
const longest = 64

const hashOf = (text: string): string => {
  const [low, high] = new TextHash().add(text).value.split('.')
  return `${high}${low}`.slice(0, 6)
}

/** Returns a name of at most 64 characters. The end of a longer one is a fingerprint of the whole, so that names stay distinct. */
const cut = (name: string): string => (name.length <= longest ? name : `${name.slice(0, longest - 7)}_${hashOf(name)}`)

/**
 * Converts any name to one that every provider accepts: 1 to 64 letters, digits, `_` or `-`. It is for sources, whose tools are named elsewhere. The
 * same name always gives the same result.
 */
export const toolName = (name: string): string => cut(name.replaceAll(/[^A-Za-z0-9_-]/g, '_') || 'tool')

/** Yields the names that a source's tool may have, in order of preference, beginning with its own. */
export function* namesFor(source: string, name: string): Generator<string, never, undefined> {
  yield name
  yield toolName(`${source}_${name}`)
  for (let n = 2; ; n++) yield toolName(`${source}_${name}_${n}`)
}
