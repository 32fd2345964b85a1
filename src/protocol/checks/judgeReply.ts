import { totalTokens, type Block } from '../messages.ts'
import type { ModelError, ModelReply } from '../ports/model.ts'

/**
 * Judgement of a reply. Only the calls of a `whole` reply are run. `cut` and `refused` replies are kept unchanged, a `paused` one is to be continued,
 * and an `empty` one says nothing. The other values are failures.
 */
export type ReplyVerdict = 'whole' | 'cut' | 'refused' | 'paused' | 'empty' | 'windowFull' | 'broken'

/** Token limits that applied to a reply. */
export interface ReplyRoom {
  readonly window?: number | undefined
  readonly maxTokens?: number | undefined
}

/** Terms of providers for the end of a reply, in lower case: Anthropic, OpenAI, Gemini, Mistral, Cohere, Bedrock, DeepSeek, z.ai. */
const reasons: { readonly [V in Exclude<ReplyVerdict, 'empty'>]: string } = {
  whole:
    'stop end_turn stop_sequence tool_use tool_calls tool_call function_call completed complete end eos eos_token done',
  cut: 'length max_tokens max_output_tokens max_completion_tokens max_length error_limit',
  refused:
    'content_filter content_filtered refusal sensitive guardrail_intervened error_toxic safety recitation language blocklist ' +
    'prohibited_content spii model_armor image_safety image_prohibited_content image_recitation',
  paused: 'pause_turn compaction',
  windowFull:
    'model_context_window_exceeded context_window_exceeded context_length_exceeded max_context_length model_length',
  // So is every word that is not here, where the reply has no other sign of an end.
  broken:
    'error failed cancelled canceled abort aborted interrupted insufficient_system_resource network_error server_error ' +
    'malformed_function_call malformed_tool_use malformed_model_output malformed_response unexpected_tool_call ' +
    'too_many_tool_calls missing_thought_signature finish_reason_unspecified other image_other no_image',
}

const verdicts: ReadonlyMap<string, ReplyVerdict> = new Map(
  Object.entries(reasons).flatMap(([verdict, words]) =>
    words.split(' ').map((word) => [word, verdict as ReplyVerdict]),
  ),
)

/**
 * Judges how a reply ended, by its stop reason, the provider's own term (`raw`) and its content. The provider's term counts if it is worse than the
 * stop reason. An unknown term is ignored beside a stop reason; alone it means `broken`. Pure.
 */
export function judgeReply(reply: ModelReply, raw?: string, room: ReplyRoom = {}): ReplyVerdict {
  const { content, stopReason } = reply
  if (stopReason === 'refusal') return 'refused'
  const verdict = judgedByWords(stopReason, raw)
  if (verdict === 'cut') return isWindowFull(reply, room) ? 'windowFull' : 'cut'
  if (verdict === 'paused') return content.some(({ type }) => type === 'toolCall') ? 'whole' : 'paused'
  return verdict === 'whole' && !content.some(saysSomething) ? 'empty' : verdict
}

/** Returns the error of a failed reply; `undefined` if the reply may be kept. */
export function errorOfReply(reply: ModelReply, room?: ReplyRoom): ModelError | undefined {
  const verdict = judgeReply(reply, reply.endReason, room)
  return verdict === 'broken' || verdict === 'windowFull' ? errorOfVerdict(verdict, reply) : undefined
}

export function errorOfVerdict(
  verdict: 'broken' | 'windowFull',
  { endReason, usage }: Pick<ModelReply, 'endReason' | 'usage'>,
): ModelError {
  if (verdict === 'windowFull')
    return { kind: 'overflow', message: 'The window of the model was full before the reply was complete.', usage }
  const said = endReason === undefined ? 'without saying how' : `as ${JSON.stringify(endReason.slice(0, 200))}`
  return { kind: 'other', message: `The provider ended the reply ${said}, which is no end of a whole one.`, usage }
}

function judgedByWords(stopReason: ModelReply['stopReason'], raw: string | undefined): ReplyVerdict {
  const known =
    raw === undefined
      ? undefined
      : verdicts.get(
          raw
            .trim()
            .toLowerCase()
            .replaceAll(/[\s-]+/g, '_'),
        )
  if (stopReason === 'other') return known ?? 'broken'
  if (known !== undefined && known !== 'whole') return known
  return stopReason === 'length' ? 'cut' : 'whole'
}

/** Returns true if a reply was cut off after almost no text because the context window was full, not because of its token limit. */
function isWindowFull({ usage }: ModelReply, { window, maxTokens = Infinity }: ReplyRoom): boolean {
  if (window === undefined) return false
  const { output } = usage
  return output < 256 && output < maxTokens / 2 && totalTokens(usage) >= 0.95 * window
}

function saysSomething(block: Block): boolean {
  switch (block.type) {
    case 'text':
      return block.text.trim() !== ''
    case 'thinking':
      return false
    case 'provider':
      return block.kind !== 'source'
    default:
      return true
  }
}
