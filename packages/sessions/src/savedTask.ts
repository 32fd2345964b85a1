import type { ToolSpec } from '../../../src/protocol/ports/model.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import { recordingOf, type RecordedReply, type RecordedRun } from './recordedRuns.ts'
import { closing, inComment, repliesOf, type ScriptEntry, type Wanted } from './testSource.ts'
import { testLiteral } from './testLiteral.ts'
import { lastRuns, wantedOf, whyItPasses } from './wantedOf.ts'

/** Check of a task, in the form of `task.json`. */
export type SavedCheck =
  | { readonly answer: string }
  | { readonly scorer: 'ends-well' }
  | { readonly scorer: 'calls-succeed'; readonly tool: string }
  | { readonly scorer: 'answers-anew'; readonly was: string }

/** Task in the form of `task.json`. */
export interface SavedTask {
  readonly id: string
  readonly prompts: readonly string[]
  readonly check: SavedCheck
  readonly limits?: { readonly turns: number }
  readonly tags: readonly string[]
}

/** Recorded replies and call results as JSON, for `recordedSuite`. */
export interface TaskRecording {
  readonly type: 'taskRecording'
  readonly version: 1
  /** Name of the recorded agent's definition. */
  readonly definition: string
  /** Instructions of the agent, if its requests were captured. */
  readonly instructions?: string
  readonly replies: readonly ScriptEntry[]
  /** Results, by the ids of calls in the replies. */
  readonly results: { readonly [callId: string]: { readonly text: string; readonly isError: boolean } }
  /** Tools that were called, with the specs that the model was shown if requests were captured. */
  readonly tools: readonly ToolSpec[]
}

export interface SavedTaskOptions {
  readonly agentId: string
  /** Text that the answer should contain. Without it the task asserts that the recorded fault does not occur. */
  readonly expect?: string
  /** Folder in which the agent worked. Its path is left out of the task's texts. */
  readonly dir?: string
}

/** A task with its recording, or why there can be none. */
export type Saved =
  | {
      readonly ok: true
      readonly task: SavedTask
      readonly recording: TaskRecording
      /** Descriptions of the parts of the recording that the task leaves out. */
      readonly notes: readonly string[]
      /** Reason why the task passes as recorded. Missing if it fails. */
      readonly passes?: string
    }
  | { readonly ok: false; readonly why: string }

/**
 * Returns a task made from a conversation: its prompts, the model's replies, the results of calls, and a check that fails as it was recorded,
 * by the rules of `failingTest`. `records`: for a fork, after those that it shares. Pure.
 */
export function savedTask(records: readonly LogRecord[], { agentId, expect, dir }: SavedTaskOptions): Saved {
  const recording = recordingOf(records)
  const all = recording.runs.filter(({ said }) => said.length > 0)
  const last = all.at(-1)
  if (last === undefined)
    return { ok: false, why: `Nobody has said anything to "${agentId}" that a task could say again.` }
  const { runs, leftOut } = lastRuns(all)
  const wanted = wantedOf(last, recording, expect)
  const created = records.findLast(({ type }) => type === 'agent.created')
  const replies = runs.flatMap((run, at) => repliesOf(run, at === runs.length - 1))
  const calls = replies.flatMap((reply) => ('toolCalls' in reply ? (reply.toolCalls ?? []) : []))
  const results = calls.flatMap(({ callId }) => {
    const result = recording.results.get(callId)
    return result === undefined ? [] : [[callId, { text: result.text, isError: result.isError }] as const]
  })
  const captured = records.findLast((record) => record.type === 'turn.captured' && record.system !== undefined)
  const system = captured?.type === 'turn.captured' ? captured.system : undefined
  const { prompts, unsaid } = promptsOf(runs)
  const passes = whyItPasses(last, wanted, expect)
  const turns = replies.length
  return {
    ok: true,
    task: {
      id: taskId(agentId),
      prompts,
      check: checkOf(wanted, last, expect),
      ...(last.end?.type === 'limit' ? { limits: { turns: Math.max(1, turns) } } : {}),
      tags: ['recorded'],
    },
    recording: {
      type: 'taskRecording',
      version: 1,
      definition: created?.type === 'agent.created' ? created.definition : '',
      ...(system === undefined ? {} : { instructions: without(system, dir) }),
      replies,
      results: Object.fromEntries(results),
      tools: toolsOf(records, [...new Set(calls.map(({ name }) => name))]),
    },
    notes: [
      ...(leftOut === 0 ? [] : [`only the end of it is played: ${leftOut} replies before are left out`]),
      ...(unsaid === 0 ? [] : [`what was said while calls were carried out is left out (${unsaid})`]),
      ...runs.flatMap(({ end }) =>
        end?.type === 'elsewhere' ? [`replies alone do not bring about that ${end.what}`] : [],
      ),
      ...(last.end?.type === 'modelError' && outside.has(last.end.kind)
        ? ['a failing provider is not the agent’s doing: the trial ends as an error, and not as failed']
        : []),
    ],
    ...(passes === undefined ? {} : { passes }),
  }
}

/** Returns the text of `suite.mjs` for a whole suite with this task. Its tools give the recorded results. Pure. */
export const suiteSource = ({ task, recording, notes }: Extract<Saved, { readonly ok: true }>): string =>
  [
    "import { defineSuite, recordedSuite } from 'escapement/testing'",
    '',
    '// Save this as suite.mjs in a folder of its own, then: escapement eval <folder> --model embedded. That model replies what was recorded.',
    '// To try an agent of yours, and other models, give "agent" at the end: ({ model, tools }) => defineAgent({ … }).',
    ...notes.map((note) => `// Note: ${inComment(note)}`),
    `const task = ${testLiteral(task)}`,
    '',
    `const recording = ${testLiteral(recording)}`,
    '',
    'export default defineSuite({ ...recordedSuite([{ task, recording }]) })',
    '',
  ].join('\n')

/** Kinds of model failures that an evaluation counts as errors. */
const outside: ReadonlySet<string> = new Set(['rateLimited', 'network', 'auth', 'other'])

/** Returns a task id that can name a folder. */
const taskId = (agentId: string): string =>
  agentId
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 64) || 'recorded'

/** Returns the prompts, run by run. Messages that came after an answer within a run begin a run of their own. */
function promptsOf(runs: readonly RecordedRun[]): { readonly prompts: readonly string[]; readonly unsaid: number } {
  let unsaid = 0
  const after = (
    { said = [], toolCalls }: RecordedReply,
    at: number,
    all: readonly RecordedReply[],
  ): readonly string[] => {
    if (toolCalls === undefined && at < all.length - 1) return said.map(({ text }) => text)
    unsaid += said.length
    return []
  }
  const prompts = runs.flatMap(({ said, replies }) => [said.join('\n\n'), ...replies.flatMap(after)])
  return { prompts: prompts.filter((text) => text.trim() !== ''), unsaid }
}

function checkOf(wanted: Wanted, last: RecordedRun, expect: string | undefined): SavedCheck {
  if (wanted.type === 'end') return { scorer: 'ends-well' }
  if (wanted.type === 'calls') return { scorer: 'calls-succeed', tool: wanted.name }
  if (expect !== undefined) return { answer: expect }
  const reply = last.replies.at(-1)
  return { scorer: 'answers-anew', was: reply?.toolCalls === undefined ? (reply?.text ?? closing) : closing }
}

/** Returns a text without the path of a folder. */
const without = (text: string, dir: string | undefined): string =>
  dir === undefined || dir.length < 2 ? text : text.replaceAll(dir, '.')

/** Returns the tools with these names as the newest captured request has them, or else tools that accept any input. */
function toolsOf(records: readonly LogRecord[], names: readonly string[]): readonly ToolSpec[] {
  const shown = new Map<string, ToolSpec>()
  for (const record of records)
    if (record.type === 'turn.captured') for (const tool of record.tools ?? []) shown.set(tool.name, tool)
  return names.map((name) => {
    const { description = 'Gives what was recorded.', inputSchema = { type: 'object' } } = shown.get(name) ?? {}
    return { name, description, inputSchema }
  })
}
