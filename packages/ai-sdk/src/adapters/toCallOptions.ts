import type {
  JSONSchema7,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool as FunctionTool,
  LanguageModelV4ProviderTool,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import type { ModelRequest, ModelSettings, ToolSpec } from '../../../../src/protocol/ports/model.ts'
import { wellFormed } from '../../../../src/protocol/text/wellFormed.ts'
import { askForCache } from './askForCache.ts'
import { type PromptOptions, toPrompt } from './toPrompt.ts'

/** Converts a `Model` request to AI SDK call options; settings absent from the request stay absent. Pure. */
export function toCallOptions(request: ModelRequest, options: PromptOptions): LanguageModelV4CallOptions {
  const tools = wellFormed(request.tools.map(toTool))
  const given = withoutStrict(request.settings, options.provider).providerOptions as SharedV4ProviderOptions | undefined
  const asked = {
    prompt: wellFormed(toPrompt(request, options)),
    ...(tools.length > 0 && { tools, ...toToolChoice(request.settings) }),
    ...toSettings(request.settings),
    ...(given !== undefined && { providerOptions: given }),
  }
  return options.cache === false ? asked : askForCache(asked, options.cache)
}

function toTool({
  name,
  description,
  inputSchema,
  provider,
  ...parts
}: ToolSpec): FunctionTool | LanguageModelV4ProviderTool {
  // What the specification lists is all that a provider is sent.
  if (provider !== undefined)
    return { type: 'provider', name, id: provider.id as `${string}.${string}`, args: { ...provider.args } }
  const { strict, inputExamples, providerOptions } = parts
  return {
    type: 'function',
    name,
    description,
    inputSchema: inputSchema as JSONSchema7,
    ...(strict !== undefined && { strict }),
    ...(inputExamples !== undefined && { inputExamples: inputExamples as FunctionTool['inputExamples'] & {} }),
    ...(providerOptions !== undefined && { providerOptions: providerOptions as SharedV4ProviderOptions }),
  }
}

/** Returns the tool choice only with tools: providers refuse a choice among none. */
function toToolChoice({ toolChoice }: ModelSettings): Pick<LanguageModelV4CallOptions, 'toolChoice'> {
  if (toolChoice === undefined) return {}
  return typeof toolChoice === 'string'
    ? { toolChoice: { type: toolChoice } }
    : { toolChoice: { type: 'tool', toolName: toolChoice.tool } }
}

function toSettings(settings: ModelSettings): Partial<LanguageModelV4CallOptions> {
  const { maxTokens, temperature, topP, stopSequences, seed, thinkingLevel, responseFormat } = settings
  return {
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(stopSequences !== undefined && { stopSequences: [...stopSequences] }),
    ...(seed !== undefined && { seed }),
    ...(thinkingLevel !== undefined && { reasoning: thinkingLevel }),
    ...(responseFormat !== undefined && {
      responseFormat: {
        type: 'json' as const,
        schema: responseFormat.schema as JSONSchema7,
        ...(responseFormat.name !== undefined && { name: responseFormat.name }),
      },
    }),
  }
}

/** Turns strict output off for schemas that strict providers cannot express and would refuse. */
function withoutStrict(settings: ModelSettings, provider: string): ModelSettings {
  const { responseFormat, providerOptions } = settings
  if (responseFormat?.strict !== false) return settings
  const own = { strictJsonSchema: false, ...providerOptions?.[provider] }
  return { ...settings, providerOptions: { ...providerOptions, [provider]: own } }
}
