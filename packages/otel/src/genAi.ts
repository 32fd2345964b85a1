import type { Attributes } from '@opentelemetry/api'
import type { AssistantMessage, Usage } from '../../../src/protocol/messages.ts'
import type { TracedAgent } from '../../../src/protocol/ports/tracer.ts'

// `gen_ai.*` and `error.type` are as in the OpenTelemetry semantic conventions 1.41 (docs/gen-ai, status: development); what they
// have no word for is `escapement.*`.

/** Provider names in the conventions, by the part of a model's id before the `:`, where they differ. */
const providers: ReadonlyMap<string, string> = new Map([
  ['amazon-bedrock', 'aws.bedrock'],
  ['bedrock', 'aws.bedrock'],
  ['azure', 'azure.ai.openai'],
  ['azure-openai', 'azure.ai.openai'],
  ['google', 'gcp.gen_ai'],
  ['vertex', 'gcp.vertex_ai'],
  ['mistral', 'mistral_ai'],
  ['xai', 'x_ai'],
])

/** Returns provider and model of an id `provider:model`. An id without a known provider gets `unknown`. */
export function modelAttributes(id: string): Attributes {
  const colon = id.indexOf(':')
  const provider = colon < 0 ? 'unknown' : id.slice(0, colon)
  return {
    'gen_ai.provider.name': providers.get(provider) ?? provider,
    'gen_ai.request.model': id.slice(colon + 1),
  }
}

/** Returns the attributes of a span's agent, which every span has. */
export const agentAttributes = ({ agentId, name, path, incognito }: TracedAgent): Attributes => ({
  'gen_ai.agent.id': agentId,
  'gen_ai.agent.name': name,
  'gen_ai.conversation.id': agentId,
  ...(path.length === 0 ? {} : { 'escapement.agent.path': [...path] }),
  ...(incognito === undefined ? {} : { 'escapement.agent.incognito': incognito }),
})

const settingNames: readonly (readonly [setting: string, attribute: string, type: 'number' | 'string'])[] = [
  ['maxTokens', 'gen_ai.request.max_tokens', 'number'],
  ['temperature', 'gen_ai.request.temperature', 'number'],
  ['topP', 'gen_ai.request.top_p', 'number'],
  ['seed', 'gen_ai.request.seed', 'number'],
  ['thinkingLevel', 'escapement.request.thinking_level', 'string'],
]

/** Returns the settings of a model snapshot, without values of an unexpected type. */
export function settingsAttributes(settings: { readonly [name: string]: unknown } = {}): Attributes {
  const attributes: Attributes = {}
  for (const [setting, attribute, type] of settingNames) {
    const value = settings[setting]
    if (typeof value === type) attributes[attribute] = value as number | string
  }
  const { stopSequences } = settings
  if (Array.isArray(stopSequences)) attributes['gen_ai.request.stop_sequences'] = stopSequences.map(String)
  if (settings['responseFormat'] !== undefined) attributes['gen_ai.output.type'] = 'json'
  return attributes
}

/** Returns token counts. Unlike ours, the conventions' count of input includes cached tokens. */
export const usageAttributes = ({ input, output, cacheRead, cacheWrite, reasoning }: Usage): Attributes => ({
  'gen_ai.usage.input_tokens': input + cacheRead + cacheWrite,
  'gen_ai.usage.output_tokens': output,
  'gen_ai.usage.cache_read.input_tokens': cacheRead,
  'gen_ai.usage.cache_creation.input_tokens': cacheWrite,
  ...(reasoning === undefined ? {} : { 'gen_ai.usage.reasoning.output_tokens': reasoning }),
})

/** The conventions' names for the reasons why a reply ended. `aborted` is ours. */
export const finishReasons: { readonly [R in AssistantMessage['stopReason']]: string } = {
  stop: 'stop',
  length: 'length',
  toolUse: 'tool_call',
  refusal: 'content_filter',
  aborted: 'aborted',
}
