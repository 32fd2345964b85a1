/** Instructions for making a model of a provider, as its package documents it. */
export interface Provider {
  readonly packageName: string
  /** Export that takes a model id and gives a model. */
  readonly factory: string
  /** Environment variables the package takes its key from. */
  readonly keys: readonly [string, ...string[]]
  readonly defaultModel: string
}

/** The providers that `--model` knows, in the order in which they are looked for. */
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
