import type { ConversationNode } from '../../conversation/tree/node.ts'
import { soundPrices } from '../../conversation/limits/economics.ts'
import { cacheLifetimes } from '../../protocol/cacheLifetimes.ts'
import { isUncached } from '../../conversation/limits/tokenCounter.ts'
import { brakeMarkers } from '../../conversation/request/markers.ts'
import { neutralise } from '../../conversation/request/renderMessage.ts'
import { addUsage } from '../../protocol/messages.ts'
import type { ModelRequest, ModelSettings } from '../../protocol/ports/model.ts'
import { cutEnd, oneLine } from '../../protocol/text/cutMiddle.ts'
import { textOf, toolCallsOf } from '../../protocol/text/messageText.ts'
import { formatNodeId } from '../../protocol/text/nodeIds.ts'
import type { AgentPorts } from '../agentPorts.ts'
import { through, withoutRefused } from '../models/openStream.ts'
import { answerTo, askModel, type Answered, type AskedAbout } from './askModel.ts'

/**
 * Asks the agent's own model about a part of its conversation: at the end of its last request, whose beginning the provider has
 * cached, if that is cheaper and fits, else with a transcript of that part. Nothing is added to the conversation. Never rejects.
 */
export async function askAbout(ports: AgentPorts, asked: AskedAbout): Promise<Answered> {
  const { clock } = ports
  const model = through(ports.gate(), ports.frame.model)
  const text = asked.text()
  const onTrunk = requestOnTrunk(ports, asked, text)
  if (onTrunk === undefined) return await askModel(model, { ...asked, text, clock })
  const { timeoutMs, signal } = asked
  const until = clock.now() + timeoutMs
  const answer = await answerTo(model, onTrunk.request, { timeoutMs, signal, clock, input: onTrunk.tokens })
  const left = until - clock.now()
  if (answer.ok || signal.aborted || left <= 0) return answer
  const again = await askModel(model, { ...asked, text, timeoutMs: left, clock })
  if (answer.usage === undefined) return again
  return { ...again, usage: again.usage === undefined ? answer.usage : addUsage(answer.usage, again.usage) }
}

/** Returns the last request with the question at its end; `undefined` if it does not fit, costs more than a transcript, or needs more than words. */
function requestOnTrunk(
  ports: AgentPorts,
  asked: AskedAbout,
  transcript: string,
): { readonly request: ModelRequest; readonly tokens: number } | undefined {
  const { conversation, definition, frame } = ports
  const { toolChoice = 'auto', responseFormat } = frame.settings
  if (toolChoice !== 'auto' || responseFormat !== undefined || asked.span.length === 0) return undefined
  // What a provider's own tools do is done before anybody could refuse it.
  if (frame.toolSpecs.some(({ provider }) => provider !== undefined)) return undefined
  const { counter, compaction } = definition
  const question = questionOf(ports, asked)
  const trunk = (frame.frameTokens + conversation.trunkTokens) * conversation.correction
  const tokens = trunk + counter.text(question)
  if (compaction !== null && tokens + asked.maxTokens > compaction.policy.contextWindow) return undefined
  if (!isCheaper(ports, { trunk, question: counter.text(question), transcript: counter.text(transcript) }))
    return undefined
  const head = conversation.path.at(-1)
  if (head === undefined) return undefined
  const { turnIndex } = head
  const assembled = ports.assemble(turnIndex)
  const at = { model: frame.model.id, turnIndex, provenance: assembled.told.provenance }
  const sent = withoutRefused(assembled.request, conversation.annotations?.refused ?? [], at)
  return { request: withQuestion(sent, question, asked.maxTokens), tokens: Math.round(tokens) }
}

/** Returns true if the cached trunk costs less than a transcript that no cache has. */
function isCheaper(
  { conversation: { measured }, frame }: AgentPorts,
  tokens: { readonly trunk: number; readonly question: number; readonly transcript: number },
): boolean {
  if (isUncached(measured) || (measured.pause ?? 0) >= cacheLifetimes['5m']) return false
  const { input, cacheRead = input } = soundPrices(frame.pricing?.cacheRead === undefined ? null : frame.pricing)
  const kept = measured.cachedShare * cacheRead + (1 - measured.cachedShare) * input
  return tokens.trunk * kept + tokens.question * input < tokens.transcript * input
}

/** Maximum number of characters that are quoted from each end of the part. */
const quotedChars = 160

function questionOf({ definition, redactor }: AgentPorts, { system, span, hasEarlier, maxTokens }: AskedAbout): string {
  const [first, last] = [span[0], span.at(-1)].map(
    (node) => node && placeOf(node, definition.braking?.showsIds === true),
  )
  const text = [
    'The runtime asks you something beside your task. Call no tool: answer in words alone, and what you answer is not added to the conversation.',
    system,
    ...(first === undefined ? [] : [`The transcript is what stands above, from ${first} to ${last}, both included.`]),
    ...(hasEarlier === true
      ? ['The summary of what came earlier belongs to it: what you write takes its place, so keep what it says.']
      : []),
    `At most ${maxTokens} tokens.`,
  ].join('\n')
  return `<runtime-note kind="question">${neutralise(redactor?.text(text) ?? text, brakeMarkers)}</runtime-note>`
}

/** Names a message by its id, if the model sees ids, and by its beginning. */
function placeOf({ stepId, message }: ConversationNode, hasIds: boolean): string {
  const calls = message.role === 'assistant' ? toolCallsOf(message.content) : []
  const said = textOf(message.content) || calls.map(({ name }) => `a call of ${name}`).join(', ')
  const begins = JSON.stringify(oneLine(cutEnd(said, 4 * quotedChars), quotedChars))
  const who = message.role === 'user' ? 'the message' : message.role === 'assistant' ? 'your reply' : 'the result'
  return `${hasIds ? `${formatNodeId(stepId)}, ` : ''}${who} that begins with ${begins}`
}

function withQuestion(request: ModelRequest, question: string, maxTokens: number): ModelRequest {
  const { messages, settings } = request
  const block = { type: 'text', text: question } as const
  const last = messages.at(-1)
  const asked =
    last?.role === 'user'
      ? messages.with(messages.length - 1, { ...last, content: [...last.content, block] })
      : [...messages, { role: 'user', content: [block] } as const]
  return { ...request, messages: asked, settings: thinks(settings) ? settings : { ...settings, maxTokens } }
}

/** Returns true if the limit of an answer also counts the thinking before it, which could leave it no room. */
const thinks = ({ thinkingLevel = 'none' }: ModelSettings): boolean => thinkingLevel !== 'none'
