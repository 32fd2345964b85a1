import type { LanguageModelV4 } from '@ai-sdk/provider'
import { messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import type { Model, ModelRequest, ModelSettings, PromptCache } from '../../../../src/protocol/ports/model.ts'
import type { StreamOptions } from '../../../../src/actors/models/openStream.ts'
import { cachingModel } from '../../../../src/actors/models/cachingModels.ts'
import { cacheAsking, type CacheAsking } from './askForCache.ts'
import { cacheWay } from './cacheWays.ts'
import { callModel } from './callModel.ts'
import type { AiSdkModel } from '../../../../src/actors/models/anyModel.ts'
import { isAiSdkModel } from './isAiSdkModel.ts'
import { notSent } from './providerParts.ts'
import { createReplyReader } from './readStream.ts'
import { toCallOptions } from './toCallOptions.ts'

export interface AiSdkModelOptions {
  /** The model's id in logs, events and prices. Default: the provider's family and the model id, `anthropic:claude-…`. */
  readonly id?: string
  /**
   * Asks the provider to cache the instructions and the conversation so far, if the provider needs that; `true`, the default, for 5 minutes. The
   * agent's `cache` wins, and so do marks in `settings.providerOptions`.
   */
  readonly cache?: boolean | PromptCache
  /**
   * Place of images and PDFs of tool results: in the result, or in a user message after it. Default: in the result if the provider's format allows
   * it, else in a user message.
   */
  readonly toolImages?: 'result' | 'user'
}

/** The version of the AI SDK's model interface that this adapter supports. */
const neededVersion = 'v4'

const takesImagesInResults = /^(anthropic|google|vertex|amazon-bedrock|bedrock)\b|^(openai|azure)[\w-]*\.responses\b/

/**
 * Wraps any AI SDK language model as a `Model`. Contract: one HTTP request per call, no retries; errors are `error` parts with a
 * kind; the id is `provider:model`. Throws `INVALID_DEFINITION` unless it implements version v4.
 */
export function aiSdkModel(languageModel: AiSdkModel, options: AiSdkModelOptions = {}): Model {
  checkModel(languageModel)
  const model = languageModel as unknown as LanguageModelV4
  const toolImages = options.toolImages ?? (takesImagesInResults.test(model.provider) ? 'result' : 'user')
  const provider = familyOf(model.provider)
  const way = cacheWay(model.provider, model.modelId)
  const own: PromptCache = options.cache === undefined || options.cache === true ? {} : options.cache
  const asking = ({ cache = own }: ModelSettings, comesLate = false): false | CacheAsking => {
    return way === undefined || cache === false ? false : cacheAsking(way, cache, comesLate)
  }
  const made: Model = {
    id: options.id ?? `${provider}:${model.modelId}`,
    stream: (request, { signal, isOnce, comesLate }: Pick<StreamOptions, 'signal' | 'isOnce' | 'comesLate'>) =>
      callModel(
        model,
        {
          // What nobody goes on from would be written to the cache for nothing.
          toOptions: (takes) =>
            toCallOptions(request, {
              provider,
              toolImages,
              takes,
              cache: isOnce !== true && asking(request.settings, comesLate),
            }),
          fileTypes: fileTypesOf(request),
          warnings: notSent(request, provider),
        },
        signal,
        createReplyReader(provider, model.modelId),
      ),
  }
  return cachingModel(made, (settings) => asking(settings) !== false)
}

const fileTypesOf = ({ messages }: ModelRequest): string[] => {
  const types = new Set<string>()
  for (const { content } of messages) for (const block of content) if (block.type === 'file') types.add(block.mimeType)
  return [...types]
}

function checkModel(value: unknown): void {
  if (typeof value === 'string') {
    throw new RuntimeError(
      'INVALID_DEFINITION',
      `The model "${value}" is a string: give a model object of a provider package, like anthropic("${value}").`,
    )
  }
  if (!isAiSdkModel(value)) {
    throw new RuntimeError('INVALID_DEFINITION', `The model is not an AI SDK language model: ${seen(value)}.`)
  }
  if (value.specificationVersion !== neededVersion) {
    throw new RuntimeError(
      'INVALID_DEFINITION',
      `The model ${value.provider}:${value.modelId} has interface version "${value.specificationVersion}", ` +
        `and "${neededVersion}" is needed: install the provider package that belongs to @ai-sdk/provider 4.`,
    )
  }
}

const seen = (value: unknown): string => (typeof value === 'function' ? 'a function' : messageOf(value).slice(0, 100))

/** `anthropic.messages` → `anthropic`; only letters, digits, `_` and `-` stay. */
const familyOf = (provider: string): string =>
  (provider.split('.')[0] ?? '').toLowerCase().replaceAll(/[^\w-]+/g, '-') || 'unknown'
