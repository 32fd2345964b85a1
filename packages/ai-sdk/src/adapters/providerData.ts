import type { SharedV4ProviderMetadata } from '@ai-sdk/provider'

/**
 * Prefix of data that a provider wants back unmodified with a block, kept in our `signature` string: an Anthropic signature stays as it is;
 * anything else (redacted thinking, item ids, thought signatures) is JSON behind this prefix, with which no signature can start.
 */
const dataPrefix = 'sdk:'

/** Data of the block that follows, for blocks that have no `signature` of their own: text and tool calls. */
const nextPrefix = 'next:'

/** Merges the data of two parts of one block, provider by provider; the later part wins. */
export function mergeData(
  a: SharedV4ProviderMetadata | undefined,
  b: SharedV4ProviderMetadata | undefined,
): SharedV4ProviderMetadata | undefined {
  if (a === undefined || b === undefined) return a ?? b
  const merged = { ...a }
  for (const [provider, data] of Object.entries(b)) merged[provider] = { ...merged[provider], ...data }
  return merged
}

/** Returns the signature of a thinking block; `undefined` if the provider gave nothing to send back. */
export function toSignature(data: SharedV4ProviderMetadata | undefined): string | undefined {
  const kept = worthKeeping(data)
  if (kept === undefined) return undefined
  const { signature, ...rest } = kept['anthropic'] ?? {}
  const isPlain = typeof signature === 'string' && Object.keys(rest).length === 0 && Object.keys(kept).length === 1
  return isPlain ? signature : dataPrefix + JSON.stringify(kept)
}

/** Reverses `toSignature`. A signature without our prefix is Anthropic's. */
export function fromSignature(signature: string | undefined): SharedV4ProviderMetadata | undefined {
  if (signature === undefined) return undefined
  return signature.startsWith(dataPrefix) ? parse(signature.slice(dataPrefix.length)) : { anthropic: { signature } }
}

/** The signature of an empty thinking block that carries the data of the block after it. */
export function toNextSignature(data: SharedV4ProviderMetadata | undefined): string | undefined {
  const kept = worthKeeping(data)
  return kept === undefined ? undefined : nextPrefix + JSON.stringify(kept)
}

/** Returns true if a thinking block only carries data for the block after it. */
export const isNextSignature = (signature: string | undefined): signature is string =>
  signature?.startsWith(nextPrefix) === true

/** The inverse of `toNextSignature`. */
export const fromNextSignature = (signature: string): SharedV4ProviderMetadata | undefined =>
  parse(signature.slice(nextPrefix.length))

/** Drops empty entries, and Anthropic's note that a tool was called directly, which is the default. */
function worthKeeping(data: SharedV4ProviderMetadata | undefined): SharedV4ProviderMetadata | undefined {
  if (data === undefined) return undefined
  const kept: SharedV4ProviderMetadata = {}
  for (const [provider, values] of Object.entries(data)) {
    const entries = Object.entries(values).filter(
      ([key, value]) => value != null && !(key === 'caller' && isDirect(value)),
    )
    if (entries.length > 0) kept[provider] = Object.fromEntries(entries)
  }
  return Object.keys(kept).length > 0 ? kept : undefined
}

const isDirect = (caller: unknown): boolean =>
  typeof caller === 'object' && caller !== null && 'type' in caller && caller.type === 'direct'

function parse(text: string): SharedV4ProviderMetadata | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as SharedV4ProviderMetadata) : undefined
  } catch {
    return undefined
  }
}
