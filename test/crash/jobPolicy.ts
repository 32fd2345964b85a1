import type { ModelPolicy } from '../../packages/models/src/policyModel.ts'
import type { ReplyShape } from '../../packages/models/src/replyShape.ts'
import { textOf } from '../../src/protocol/messages.ts'
import type { ModelRequest } from '../../src/protocol/ports/model.ts'
import type { Job, JobTurn } from './crashJob.ts'

/** `unknown`: it was cut off, and may have happened. */
type ItemStatus = 'done' | 'unknown' | 'missing'

const itemsOf = (job: Job, number: number): string[] => {
  const turn = job.turns[number - 1]!
  return 'revertTo' in turn
    ? [`${job.prefix}-${number}.1`]
    : turn.map((_, index) => `${job.prefix}-${number}.${index + 1}`)
}

const toolOf = (job: Job, item: string): string => {
  const [number = 0, place = 0] = item
    .slice(job.prefix.length + 1)
    .split('.')
    .map(Number)
  return (job.turns[number - 1] as readonly string[])[place - 1]!
}

/** Items as a request shows them: by results, and by notes and summaries that quote them. */
function readProgress(job: Job, request: ModelRequest): Map<string, ItemStatus> {
  const statuses = new Map<string, ItemStatus>()
  const itemOfCall = new Map<string, string>()
  const mentions = new RegExp(`item (${job.prefix}-\\d+\\.\\d+) (done|denied|absent)`, 'g')
  for (const message of request.messages) {
    if (message.role === 'assistant') {
      for (const block of message.content)
        if (block.type === 'toolCall') itemOfCall.set(block.callId, (block.input as { item?: string }).item ?? '')
      continue
    }
    const text = textOf(message.content)
    for (const [, item = '', word] of text.matchAll(mentions)) {
      if (word !== 'absent') statuses.set(item, 'done')
      else if (message.role === 'toolResult') statuses.set(item, 'missing')
    }
    const item = message.role === 'toolResult' ? (itemOfCall.get(message.callId) ?? '') : ''
    if (!item.startsWith(`${job.prefix}-`) || statuses.get(item) === 'done') continue
    if (text.includes('not known whether it happened')) statuses.set(item, 'unknown')
    else if (!statuses.has(item)) statuses.set(item, 'missing')
  }
  return statuses
}

/** The id that the request shows at the end of the step with an item's result, or in the line of a memo that names the item. */
function stepIdOf(request: ModelRequest, item: string): string {
  const folded = new RegExp(`^(?:<brake-note kind="memo"[^>]*>)?(n\\d+) .*\\bitem=${item}\\b`, 'm')
  for (const message of request.messages.toReversed()) {
    const text = message.role === 'assistant' ? '' : textOf(message.content)
    const isResult = message.role === 'toolResult' && text.startsWith(`item ${item} done`)
    const id = (isResult ? /\[(n\d+)\]$/ : folded).exec(text)?.[1]
    if (id !== undefined) return id
  }
  throw new Error(`the step of ${item} is not shown`)
}

function callsOf(job: Job, number: number, request: ModelRequest): ReplyShape {
  const turn: JobTurn = job.turns[number - 1]!
  const [item = ''] = itemsOf(job, number)
  if (!('revertTo' in turn))
    return { toolCalls: itemsOf(job, number).map((each) => ({ name: toolOf(job, each), input: { item: each } })) }
  const step = stepIdOf(request, itemsOf(job, turn.revertTo)[0]!)
  return {
    toolCalls: [
      {
        name: 'revert_to_state',
        input: {
          category: turn.category,
          step,
          summary: `item ${item} done: went back`,
          ...(turn.undo && { undo: true }),
        },
      },
    ],
  }
}

const said = (request: ModelRequest): string[] => {
  const words = request.messages.flatMap(({ role, content }) =>
    role === 'user' ? [...textOf(content).matchAll(/say\([^)]*\)/g)].map(([found]) => found) : [],
  )
  return [...new Set(words)]
}

/**
 * Does a job turn by turn, deciding from the request alone: what is done is read from results, notes and summaries; an
 * irreversible call that was cut off is verified before it is made again.
 */
export const jobPolicy =
  (job: Job): ModelPolicy =>
  (request) => {
    const statuses = readProgress(job, request)
    const numbers = [...statuses.keys()].map((item) => Number(item.slice(job.prefix.length + 1).split('.')[0]))
    const current = Math.max(0, ...numbers)
    const open = current === 0 ? [] : itemsOf(job, current).filter((item) => statuses.get(item) !== 'done')
    if (open.length > 0 && 'revertTo' in job.turns[current - 1]!) return callsOf(job, current, request)
    if (open.length > 0)
      return {
        toolCalls: open.map((item) => ({
          name: statuses.get(item) === 'unknown' ? 'verify' : toolOf(job, item),
          input: { item },
        })),
      }
    const isMoreAsked = said(request).some((words) => words.includes('three more'))
    const last = isMoreAsked ? job.turns.length : Math.min(job.turns.length, job.followUpFrom - 1)
    if (current < last) return callsOf(job, current + 1, request)
    return `All ${current} turns are done. I was told: ${said(request).join(', ')}.`
  }
