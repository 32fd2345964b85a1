import type { SharedV4ProviderOptions } from '@ai-sdk/provider'

/** Time for which a provider should keep a cached beginning. */
export type CacheTtl = '5m' | '1h'

/** Way of asking a provider to cache the beginning of requests: by marks in the prompt, or by a key for the whole. */
export type CacheWay =
  | { readonly by: 'marks'; readonly mark: (ttl: CacheTtl) => SharedV4ProviderOptions }
  | { readonly by: 'key' }

const lasting = (ttl: CacheTtl): { ttl?: '1h' } => (ttl === '1h' ? { ttl } : {})
const ephemeral = (ttl: CacheTtl) => ({ type: 'ephemeral', ...lasting(ttl) })

const marks = {
  anthropic: (ttl) => ({ anthropic: { cacheControl: ephemeral(ttl) } }),
  bedrock: (ttl) => ({ bedrock: { cachePoint: { type: 'default', ...lasting(ttl) } } }),
  // Its own package reads the one, @ai-sdk/openai-compatible the other.
  openrouter: (ttl) => ({
    openrouter: { cacheControl: ephemeral(ttl) },
    openaiCompatible: { cache_control: ephemeral(ttl) },
  }),
} satisfies { [provider: string]: (ttl: CacheTtl) => SharedV4ProviderOptions }

/** Ways by `provider:model` of the AI SDK. Other models cache by themselves, or not at all; some refuse marks. */
const ways: readonly (readonly [RegExp, CacheWay])[] = [
  [/^([\w-]+\.)?anthropic(\.[\w.]+)?:/i, { by: 'marks', mark: marks.anthropic }],
  [/^gateway(\.\w+)?:anthropic\//, { by: 'marks', mark: marks.anthropic }],
  [
    // Older ones than these have no cache there.
    /^amazon-bedrock(\.\w+)?:.*claude-(?!v?[12]\b|instant|3-(opus|sonnet|haiku)|3-5-sonnet-20240620)/,
    { by: 'marks', mark: marks.bedrock },
  ],
  [/^openrouter(\.\w+)?:~?anthropic\//, { by: 'marks', mark: marks.openrouter }],
  [/^(openai|azure|azure-openai)\.(responses|chat):/, { by: 'key' }],
]

/** Returns the way for a model, by the name of its provider and its id; `undefined` if it needs none or none is known. Pure. */
export const cacheWay = (provider: string, modelId: string): CacheWay | undefined =>
  ways.find(([pattern]) => pattern.test(`${provider}:${modelId}`))?.[1]
