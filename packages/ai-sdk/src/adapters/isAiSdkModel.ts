import type { AiSdkModel } from '../../../../src/actors/models/anyModel.ts'

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
