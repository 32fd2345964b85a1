/** A language model object of the AI SDK, as any provider package makes it; declared here so that no package is needed. */
export interface AiSdkModel {
  readonly specificationVersion: string
  readonly provider: string
  readonly modelId: string
  doStream(options: never): PromiseLike<unknown>
}

/** Returns true if a value is a language model object of any version of the AI SDK. Never throws. */
export function isAiSdkModel(value: unknown): value is AiSdkModel {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  const { specificationVersion, provider, modelId, doStream } = value as Partial<Record<keyof AiSdkModel, unknown>>
  return (
    typeof specificationVersion === 'string' &&
    typeof provider === 'string' &&
    typeof modelId === 'string' &&
    typeof doStream === 'function'
  )
}
