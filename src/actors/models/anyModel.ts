import type { Model } from '../../protocol/ports/model.ts'

/** A language model object of the AI SDK, as any provider package makes it; declared here so that no package is needed. */
export interface AiSdkModel {
  readonly specificationVersion: string
  readonly provider: string
  readonly modelId: string
  doStream(options: never): PromiseLike<unknown>
}

/** A model as accepted by options: one of escapement's own, or an AI SDK model from a provider's package. */
export type AnyModel = Model | AiSdkModel
