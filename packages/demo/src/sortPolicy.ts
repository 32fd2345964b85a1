import { policyModel } from '../../models/src/policyModel.ts'
import type { ReplyShape } from '../../models/src/replyShape.ts'
import { textOf, toolCallsOf } from '../../../src/protocol/messages.ts'
import type { Model, ModelRequest, RequestMessage } from '../../../src/protocol/ports/model.ts'
import { idIn, noteIn } from './brakeMarks.ts'
import {
  checkArguments,
  checkFile,
  defaultTimeLimitMs,
  readSortTask,
  sortFile,
  sortTask,
  type SortTask,
} from './sortTask.ts'

/** Returns the model of the sort demo. It needs no key, and can only do `sortTask`. */
export const sortModel = (options: { readonly wordDelayMs?: number } = {}): Model =>
  policyModel(decideSort, { id: 'embedded:sort', ...options })

/** Decides the next reply from the request alone: facts that the request does not contain are unknown. Pure. */
export function decideSort({ messages }: ModelRequest): ReplyShape {
  const [first] = messages
  const task = first?.role === 'user' ? taskIn(textOf(first.content)) : undefined
  if (task === undefined) return unable('I am the model of the sort demo and can do nothing else.')
  const seen = look(messages)
  if (seen.refusal !== undefined) return unable(`I wanted to start over, and may not: ${seen.refusal}`)
  if (seen.problem !== undefined) return unable(seen.problem)
  if (!seen.hasReadCheck)
    return { text: 'How is it checked?', toolCalls: [{ name: 'read_file', input: { path: checkFile } }] }
  return seen.way === undefined ? write(seen) : seen.run === undefined ? run(task) : judge(seen, seen.way, seen.run)
}

/** Reads the task from its full wording. A text that merely mentions sorting is the default task. */
const taskIn = (text: string): SortTask | undefined =>
  readSortTask(text) ?? (/\bsort/i.test(text) ? readSortTask(sortTask(defaultTimeLimitMs)) : undefined)

/** State of the work that a request shows. */
interface Seen {
  readonly hasReadCheck: boolean
  readonly lessons: readonly string[]
  /** Sorting method in the file that was written last. */
  readonly way: SortWay | undefined
  /** Id of the step before that, if ids are shown. */
  readonly stepBefore: string | undefined
  readonly run: { readonly text: string; readonly isError: boolean } | undefined
  readonly refusal: string | undefined
  /** Description of a problem that prevents the work from continuing. */
  readonly problem: string | undefined
}

function look(messages: readonly RequestMessage[]): Seen {
  const lessons: string[] = []
  let hasReadCheck = false
  let way: Seen['way']
  let ran: Seen['run']
  let [stepBefore, lastStep, refusal, problem]: (string | undefined)[] = []
  const inputs = new Map<string, Readonly<Record<string, unknown>>>()
  for (const message of messages) {
    if (message.role === 'assistant') {
      for (const { callId, input } of toolCallsOf(message.content)) inputs.set(callId, input as Record<string, unknown>)
      continue
    }
    const texts = message.content.flatMap((block) => (block.type === 'text' ? [block.text] : []))
    if (message.role === 'user') {
      for (const text of texts) {
        const said = noteIn(text)
        if (said?.kind === 'lesson') lessons.push(said.note)
        if (said?.kind === 'refusal') refusal = said.note
      }
    }
    if (message.role === 'toolResult') {
      const { toolName, callId, isError } = message
      const text = textOf(message.content)
      if (isError && toolName !== 'run_command') problem = text
      if (toolName === 'read_file') hasReadCheck = true
      if (toolName === 'run_command') ran = { text, isError }
      if (toolName === 'write_file') {
        way = sortWays.find(({ program }) => program === inputs.get(callId)?.['content'])
        stepBefore = lastStep
        ran = undefined
      }
    }
    for (const text of texts) lastStep = idIn(text) ?? lastStep
  }
  return { hasReadCheck, lessons, way, stepBefore, run: ran, refusal, problem }
}

/** Returns the first way that no lesson mentions. */
const untried = (lessons: readonly string[]): SortWay | undefined =>
  sortWays.find(({ name }) => !lessons.some((lesson) => lesson.toLowerCase().includes(name)))

function write({ lessons }: Seen): ReplyShape {
  const way = untried(lessons)
  if (way === undefined) return unable('All the ways I know were too slow.')
  const why = lessons.length === 0 ? '' : 'A note says what not to try again. '
  return {
    text: `${why}I write a ${way.name}.`,
    toolCalls: [{ name: 'write_file', input: { path: sortFile, content: way.program } }],
  }
}

const run = (task: SortTask): ReplyShape => ({
  text: 'I check it under the time limit.',
  toolCalls: [
    {
      name: 'run_command',
      input: { command: ['node', ...checkArguments(task)].join(' '), timeoutMs: task.timeLimitMs },
    },
  ],
})

function judge({ lessons, stepBefore }: Seen, way: SortWay, { text, isError }: NonNullable<Seen['run']>): ReplyShape {
  if (!isError) {
    const time = /^sorted in .*$/m.exec(text)?.[0] ?? 'it passed'
    return `Done: sort.mjs is a ${way.name}, and the check passes (${time}).`
  }
  const timeout = /timed out: [^\]]*/.exec(text)?.[0]
  if (timeout === undefined) return unable(`The check of my ${way.name} failed: ${text}`)
  const lesson = `${way.name} is too slow for this: the check ${timeout}, and ${way.cost}`
  if (untried([...lessons, lesson]) === undefined)
    return unable(`The ${way.name} is too slow as well (${timeout}), and I know no faster way.`)
  if (stepBefore === undefined)
    return unable(`The ${way.name} is too slow (${timeout}), and I see no step to go back to.`)
  return {
    text: `Too slow, and no edit of a ${way.name} will help: I go back to ${stepBefore} and start over.`,
    toolCalls: [{ name: 'revert_to_state', input: { category: 'failure', step: stepBefore, summary: lesson } }],
  }
}

const unable = (why: string): ReplyShape => ({ text: why, stopReason: 'refusal' })

/** A sorting method, as the policy model knows it. */
interface SortWay {
  readonly name: string
  /** Reason why the method may be too slow, for a note to oneself. */
  readonly cost: string
  readonly program: string
}

/** All sorting methods, in the order in which they come to mind. */
const sortWays: readonly SortWay[] = [
  {
    name: 'bubble sort',
    cost: 'it needs about n² steps',
    program: `// bubble sort
export function sort(numbers) {
  const sorted = [...numbers]
  for (let end = sorted.length - 1; end > 0; end--) {
    for (let i = 0; i < end; i++) {
      const here = sorted[i]
      if (here <= sorted[i + 1]) continue
      sorted[i] = sorted[i + 1]
      sorted[i + 1] = here
    }
  }
  return sorted
}
`,
  },
  {
    name: 'merge sort',
    cost: 'it needs about n·log n steps',
    program: `// merge sort
export function sort(numbers) {
  if (numbers.length < 2) return [...numbers]
  const middle = numbers.length >> 1
  const left = sort(numbers.slice(0, middle))
  const right = sort(numbers.slice(middle))
  const merged = []
  let [i, j] = [0, 0]
  while (i < left.length && j < right.length) merged.push(left[i] <= right[j] ? left[i++] : right[j++])
  while (i < left.length) merged.push(left[i++])
  while (j < right.length) merged.push(right[j++])
  return merged
}
`,
  },
]
