/** Instructions for making a model of a provider, as its package documents it. */
export interface Provider {
  readonly packageName: string
  /** Name of the export that creates a model from its id. */
  readonly factory: string
  /** Environment variables from which the package reads its key. */
  readonly keys: readonly [string, ...string[]]
  readonly defaultModel: string
}

/** Providers for `--model`, in search order. */
export const providers: Readonly<Record<string, Provider>> = {
  anthropic: {
    packageName: '@ai-sdk/anthropic',
    factory: 'anthropic',
    keys: ['ANTHROPIC_API_KEY'],
    defaultModel: 'claude-sonnet-5-5',
  },
  openai: {
    packageName: '@ai-sdk/openai',
    factory: 'openai',
    keys: ['OPENAI_API_KEY'],
    defaultModel: 'gpt-5.6',
  },
  google: {
    packageName: '@ai-sdk/google',
    factory: 'google',
    keys: ['GOOGLE_GENERATIVE_AI_API_KEY'],
    defaultModel: 'gemini-flash-latest',
  },
}
