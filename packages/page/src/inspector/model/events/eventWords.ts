import { metadataText } from '../../../../../words/src/metadataText.ts'
import { formatNodeId } from '../../../../../../src/protocol/text/nodeIds.ts'
import type { AgentEvent } from '../../../../../../src/protocol/events.ts'
import type { Block } from '../../../../../../src/protocol/messages.ts'
import {
  countMedia,
  providedText,
  textOf,
  toolCallsOf,
  totalTokens,
} from '../../../../../../src/protocol/text/messageText.ts'
import { byPolicy, counted, dollars, savings } from '../../../../../charts/src/amounts.ts'
import { brakeLines } from '../../../../../words/src/brakes/brakeLines.ts'
import type { ShowingWords } from '../../../../../words/src/parts/describing.ts'
import { linesAbout } from '../../../../../words/src/parts/partLines.ts'
import type { PartRecordType } from '../../../../../../src/protocol/parts/partRecords.ts'
import type { Telling } from '../../../../../words/src/brakes/telling.ts'
import type { UndoLedger } from '../../../../../../src/protocol/undo.ts'
import type { ToolsChange } from '../../../../../../src/protocol/toolsChange.ts'
import type { PreparedTurn } from '../../../../../../src/protocol/bridge/turns.ts'
import type { Economics } from '../../../../../../src/protocol/economics.ts'
import { askingCost } from '../words/numbers.ts'
import { leftOf } from '../agent/eventList.ts'
import { short, sourceWords, useWords } from './useWords.ts'

const whyEnded = (why: string | undefined): string => (why === undefined ? '' : `: ${why}`)

const json = (value: unknown): string => short(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

function said(content: readonly Block[]): string {
  const text = short(textOf(content))
  const calls = toolCallsOf(content).map(({ name }) => name)
  const provided = content.flatMap((block) => (block.type === 'provider' ? [providedText(block)] : [])).join(', ')
  return [text, short(provided), calls.length > 0 ? `calls ${calls.join(', ')}` : '', countMedia(content)]
    .filter(Boolean)
    .join(' · ')
}

const saved = (economics: Economics | undefined): string => (economics === undefined ? '' : ` · ${savings(economics)}`)

const undoWords = (ledger: UndoLedger): string =>
  `${ledger.undone.length} undone, ${ledger.kept.length} not${ledger.undone.length === 0 ? '' : `: ${short(ledger.undone.join(', '))}`}`

const rungWords = {
  none: 'nothing is done',
  note: 'the model is told',
  revert: 'the loop is reverted',
  pause: 'the run is paused',
} as const

function preparedWords({ by, limit, settings, sameInstructions, ...use }: PreparedTurn): string {
  const parts = [
    limit === undefined ? '' : `the last turn: the limit of ${limit.limit} is reached`,
    useWords(use),
    sameInstructions === undefined ? '' : 'the same instructions',
    settings === undefined ? '' : json(settings),
  ]
  return `${parts.filter(Boolean).join(' · ')} (by ${by.join(', ')})`
}

function toolsWords({ added, removed, instructions = [], trouble = [] }: ToolsChange): string {
  const parts = [
    added.length === 0 ? '' : `offered: ${added.map(({ name }) => name).join(', ')}`,
    removed.length === 0 ? '' : `gone: ${removed.join(', ')}`,
    instructions.length === 0 ? '' : `instructions of ${instructions.map(({ source }) => source).join(', ')}`,
    ...trouble.map(({ source, message }) => `${source}: ${message}`),
  ]
  return short(parts.filter(Boolean).join(' · '))
}

const endWords = {
  stop: 'done',
  length: 'cut off at the length limit',
  refusal: 'refused',
  paused: 'paused',
  aborted: 'aborted',
  error: 'failed',
} as const

type Texts = {
  readonly [T in Exclude<AgentEvent['type'], PartRecordType>]: (
    event: Extract<AgentEvent, { type: T }>,
    telling: Telling,
  ) => string
}

const texts: Texts = {
  'agent.created': ({ definition, model, forkedFrom, imported, metadata }) =>
    [
      `${definition} on ${model}`,
      ...(forkedFrom === undefined ? [] : [`forked from ${forkedFrom.agentId}`]),
      ...(imported === undefined ? [] : [`with ${counted(imported, 'message')} of another system`]),
      ...(metadata === undefined ? [] : [metadataText(metadata)]),
    ].join(', '),
  'agent.stopped': () => 'ended for good',
  'run.start': ({ cause, runId }) => `${runId}, by a ${cause}`,
  'run.end': ({ stopReason, turns, error, refusal }) =>
    `${endWords[stopReason]} after ${counted(turns, 'turn')}${whyEnded(error?.message ?? refusal?.reason)}`,
  'guard.decided': ({ at, decision, guard = '', reason, error }) =>
    `${at} ${decision}${guard === '' ? '' : ` by ${guard}`}${whyEnded(reason ?? error?.message)}`,
  'run.abandoned': ({ runId }) => runId,
  'turn.start': ({ turnIndex }) => `turn ${turnIndex + 1}`,
  'turn.end': ({ turnIndex, usage }) => `turn ${turnIndex + 1}, ${counted(totalTokens(usage), 'token')}`,
  'turn.prepared': (prepared) => preparedWords(prepared),
  'tools.changed': (change) => toolsWords(change),
  'use.changed': ({ use }) => (use === null ? 'what the definition says' : useWords(use)),
  'turn.captured': (record) =>
    `${counted(record.kept, 'message')} kept, ${leftOf(record) ?? record.messages.length} new, to ${record.model}`,
  'turn.request': ({ model, request }) => `${counted(request.messages.length, 'message')} to ${model}`,
  'message.added': ({ nodeId, message }) => `${formatNodeId(nodeId)} ${said(message.content)}`,
  'reply.start': ({ attempt, model = 'the model' }) =>
    attempt === 1 ? `${model} answers` : `attempt ${attempt}${model === 'the model' ? '' : `, ${model}`}`,
  'reply.end': ({ nodeId, message }) => `${formatNodeId(nodeId)} ${said(message.content)}`,
  'reply.reset': ({ error, next, without }) => {
    if (without !== undefined) return `${error.message} Asking again without ${without.part}.`
    return next === undefined ? error.message : `${error.message} Asking ${next}.`
  },
  'reply.delta': ({ text }) => short(text),
  'thinking.delta': ({ text }) => short(text),
  'toolCall.delta': ({ text }) => short(text),
  'tool.start': ({ name, input }) => `${name} ${json(input)}`,
  'tool.end': ({ name, message, handoff }) =>
    handoff === undefined
      ? `${name}${message.isError ? ' failed' : ''}: ${said(message.content)}`
      : `handed over to ${handoff}`,
  'tool.progress': ({ name, progress }) => `${name} ${json(progress)}`,
  'child.spawned': ({ childId, definition }) => `${childId} (${definition})`,
  'child.ended': ({ childId, error }) => `${childId}${error === undefined ? '' : `: ${error.message}`}`,
  'approval.requested': ({ name, input }) => `${name} ${json(input)}`,
  'approval.decided': ({ callId, decision, reason, input }) => {
    const edited = input === undefined ? '' : ` with ${json(input)}`
    return `${decision} ${callId}${edited}${reason === undefined ? '' : `: ${reason}`}`
  },
  'question.asked': ({ name, question }) => `${name}: ${short(question)}`,
  'question.answered': ({ callId, decision, value, reason = '' }) =>
    `${callId}: ${decision === 'answer' ? json(value) : `denied ${reason}`}`,
  'call.requested': ({ name, input }) => `${name} ${json(input)}`,
  'queue.changed': ({ queue, length, added }) =>
    added === undefined ? `${queue}: ${length} wait` : `${queue}: ${said(added.content)}`,
  'compaction.requested': ({ request }) =>
    `by the ${request.by}${request.focus === undefined ? '' : `, to keep ${short(request.focus)}`}`,
  'compaction.start': ({ cause, tokens }) => `${cause}, at ${tokens} tokens`,
  'compaction.end': ({ applied, reason, tokensBefore, tokensAfter, economics }) =>
    applied ? `${tokensBefore} to ${tokensAfter} tokens${saved(economics)}` : `not applied: ${reason ?? ''}`,
  'revert.requested': ({ request }) =>
    `to ${request.step}, ${request.category}${byPolicy(request.policy) || `, by the ${request.by}`}`,
  'revert.applied': ({ applied, target, category, reason, tag, economics }) =>
    applied && target !== undefined
      ? `to ${formatNodeId(target)}, ${category}${saved(economics)}: ${short(tag?.text ?? '')}`
      : `refused: ${reason ?? ''}`,
  'undo.step': ({ call, undone, why }) => `${formatNodeId(call)} ${undone ? 'undone' : `not undone: ${why ?? ''}`}`,
  'undo.end': (ledger) => undoWords(ledger),
  'model.waiting': ({ model, why, ahead }) => `${model}: ${why}, ${ahead} ahead`,
  'model.waited': ({ model, ms }) => `${model}: ${ms} ms`,
  'source.status': (info) => sourceWords(info),
  'model.warning': ({ model, message }) => `${model}: ${short(message)}`,
  ...brakeLines.line,
  'pin.requested': ({ request }) => `${request.pinned ? '' : 'un'}pin ${request.step}, by the ${request.by}`,
  'pin.applied': ({ applied, requested, pinned, reason }) =>
    applied ? `${requested} ${pinned ? 'pinned' : 'unpinned'}` : `refused: ${reason ?? ''}`,
  'stall.detected': ({ rung, evidence }) => `${short(evidence)} (${rungWords[rung]})`,
  'policy.requested': ({ request }) => `${request.policy}, by the ${request.by}`,
  'policy.start': ({ policy, why, tokens }) => `${policy}: ${short(why)}, at ${tokens} tokens`,
  'policy.end': ({ policy, outcome, note, reason, usage, costUsd }) =>
    `${policy}: ${outcome}${[note, reason].map((words) => (words === undefined ? '' : `, ${short(words)}`)).join('')}${usage === undefined ? '' : ` · ${askingCost(usage, costUsd)}`}`,
  'prune.requested': ({ request }) =>
    `${request.show === true ? 'show ' : request.mask === true ? 'results of ' : ''}${request.steps?.join(', ') ?? `${request.tokens ?? ''} tokens`}${byPolicy(request.policy)}`,
  'prune.applied': ({ applied, by, policy, masked, shown, steps, tokens, memo, reason, economics }) =>
    applied
      ? `${shown === true ? 'shown again: ' : masked === true ? 'results of ' : ''}${by === 'runtime' && masked !== true ? `${counted(steps.length, 'step')} folded` : steps.map(formatNodeId).join(', ')}, ${Math.round(tokens)} tokens${byPolicy(policy)}${saved(economics)}${memo === undefined ? '' : `: ${short(memo)}`}`
      : `refused: ${reason ?? ''}`,
  'tag.expired': ({ nodeId, kind, text }) => `${kind} at ${formatNodeId(nodeId)}: ${short(text)}`,
  'state.changed': ({ previous, state }) => `${previous} → ${state}`,
  error: ({ error }) => `${error.code}: ${error.message}`,
  'record.withheld': () => 'not shown to this token',
  'events.dropped': ({ count }) => `${count} events were not shown`,
}

const telling: Telling & ShowingWords = { counted, short, saved, dollars, asking: askingCost }

/** Describes an event in one line. Pure; never throws. */
export function eventText(event: AgentEvent): string {
  try {
    const text = linesAbout(event)?.line ?? texts[event.type as keyof Texts]
    return (
      (text as ((event: AgentEvent, telling: Telling & ShowingWords) => string) | undefined)?.(event, telling) ?? ''
    )
  } catch {
    return ''
  }
}
