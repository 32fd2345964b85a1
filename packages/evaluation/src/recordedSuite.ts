import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { join } from 'node:path'
import { z } from 'zod'
import { defineAgent } from '../../define/src/defineAgent.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import { defineTool } from '../../schemas/src/defineTool.ts'
import type { Tool } from '../../../src/actors/tools/defineTool.ts'
import { checkedBy, messageOf, RuntimeError } from '../../../src/protocol/errors.ts'
import { lazily } from '../../../src/protocol/lazily.ts'
import type { Model, ModelError } from '../../../src/protocol/ports/model.ts'
import type { SavedTask, TaskRecording } from '../../sessions/src/savedTask.ts'
import type { Scorer, SuiteDefinition } from './suite/defineSuite.ts'
import type { Check } from './suite/task.ts'

/** A task that was saved from a session, in one piece. */
export interface RecordedTask {
  readonly task: SavedTask
  readonly recording: TaskRecording
}

const json = z.record(z.string(), z.unknown())

const recordingSchema = lazily(() =>
  z.object({
    type: z.literal('taskRecording'),
    version: z.literal(1, 'it is of another version than 1'),
    definition: z.string(),
    instructions: z.string().optional(),
    replies: z.array(json),
    results: z.record(z.string(), z.object({ text: z.string(), isError: z.boolean() })),
    tools: z.array(z.object({ name: z.string(), description: z.string(), inputSchema: json })),
  }),
)

/**
 * Returns the suite of tasks that were saved from sessions with `escapement export <id> --task <folder>`: `folder` holds them, or they are given. Its
 * model `embedded` plays the recorded replies. Its agent has the tools for files and commands if a workspace was saved; other tools return the
 * recorded results for the same arguments. Spread it and give your own `agent` to see if it does better, with any model.
 *
 * @throws RuntimeError `INVALID_OPTION` for a recording that cannot be read
 *
 * @example
 * ```ts no-run
 * import { defineSuite, recordedSuite } from 'escapement/testing'
 *
 * // In suite.mjs: export default suite
 * const suite = defineSuite({
 *   ...recordedSuite(import.meta.dirname),
 *   agent: ({ model, tools }) => defineAgent({ name: 'fixer', model, tools }),
 * })
 * ```
 */
export function recordedSuite(given: string | readonly RecordedTask[]): SuiteDefinition {
  const recordings = typeof given === 'string' ? readRecordings(given) : inCode(given)
  const recordingOf = (task: string): TaskRecording => {
    const found = recordings.get(task)
    if (found !== undefined) return found.recording
    throw new RuntimeError('INVALID_OPTION', `Nothing was recorded for the task "${task}".`)
  }
  return {
    agent: ({ model, tools, task }) => {
      const recording = recordingOf(task)
      const real = recordings.get(task)!.hasFiles ? tools : []
      const names = new Set<string>(real.map(({ name }) => name))
      const recorded = recording.tools.filter(({ name }) => !names.has(name) && toolName.test(name))
      const { instructions, definition } = recording
      return defineAgent({
        name: definition.replaceAll(/[^A-Za-z0-9_-]/g, '-').slice(0, 64) || 'recorded',
        model,
        ...(instructions === undefined ? {} : { instructions }),
        tools: [...real, ...recorded.map((tool) => recordedTool(tool, recording))],
        retry: { attempts: 1 },
      })
    },
    models: { embedded: ({ task }) => recordedReplies(recordingOf(task)) },
    scorers,
    ...(typeof given === 'string'
      ? {}
      : { tasks: given.map(({ task: { check, ...task } }) => ({ ...task, check: check as Check })) }),
  }
}

const toolName = /^[A-Za-z0-9_-]{1,64}$/

interface Read {
  readonly recording: TaskRecording
  /** True if a workspace was saved with the task. */
  readonly hasFiles: boolean
}

const inCode = (given: readonly RecordedTask[]): ReadonlyMap<string, Read> =>
  new Map(
    given.map(({ task, recording }) => [
      task.id,
      { recording: checked(recording, `task "${task.id}"`), hasFiles: false },
    ]),
  )

function readRecordings(folder: string): ReadonlyMap<string, Read> {
  const recordings = new Map<string, Read>()
  for (const name of readdirSync(folder)) {
    const file = join(folder, name, 'recording.json')
    if (!existsSync(file)) continue
    let value: unknown
    try {
      value = JSON.parse(readFileSync(file, 'utf8'))
    } catch (thrown) {
      throw new RuntimeError('INVALID_OPTION', `${file} is not JSON: ${messageOf(thrown)}.`)
    }
    recordings.set(name, { recording: checked(value, file), hasFiles: existsSync(join(folder, name, 'files')) })
  }
  return recordings
}

function checked(value: unknown, where: string): TaskRecording {
  return checkedBy(recordingSchema(), value, `${where}: this is not a recording`) as unknown as TaskRecording
}

/** Returns a model that plays the recorded replies one after the other, whatever the requests. */
function recordedReplies({ replies }: TaskRecording): Model {
  const id = 'embedded:recorded'
  const model = policyModel(
    (_, { turnIndex }) => {
      const reply = replies[turnIndex]
      if (reply === undefined || 'error' in reply) return { text: 'The recording ends here.' }
      return reply
    },
    { id },
  )
  let asked = 0
  return {
    id,
    async *stream(request, options) {
      const turnIndex = asked++
      const reply = replies[turnIndex]
      if (reply !== undefined && 'error' in reply) yield { type: 'error', error: reply.error as ModelError }
      else yield* model.stream(request, { ...options, turnIndex } as typeof options)
    },
  }
}

/** Returns a tool that gives the recorded result of the call, else of a call with the same arguments. */
function recordedTool(
  { name, description, inputSchema }: TaskRecording['tools'][number],
  recording: TaskRecording,
): Tool {
  const calls = recording.replies.flatMap((reply) => ('toolCalls' in reply ? (reply.toolCalls ?? []) : []))
  return defineTool({
    name,
    description: description === '' ? 'Gives what was recorded.' : description,
    input: { jsonSchema: inputSchema },
    effects: 'none',
    run: (input: unknown, { callId }) => {
      const equal = calls.find((call) => call.name === name && isDeepStrictEqual(call.input, input))
      const result = recording.results[callId] ?? (equal === undefined ? undefined : recording.results[equal.callId])
      if (result === undefined) throw new Error(`Nothing was recorded for this call of ${name}.`)
      if (result.isError) throw new Error(result.text)
      return result.text
    },
  })
}

const scorers: Readonly<Record<string, Scorer>> = {
  'ends-well': ({ result }) => ({
    value: result?.stopReason === 'stop' ? 1 : 0,
    reason: result === null ? 'nothing was run' : `the run ended with ${result.stopReason}`,
  }),
  'calls-succeed': ({ records, options: { tool } }) => {
    const ended = [...records.values()]
      .flat()
      .flatMap((record) =>
        record.type === 'tool.end' && record.name === tool && record.message.synthetic === undefined
          ? [record.message]
          : [],
      )
    const failed = ended.filter(({ isError }) => isError)
    const hasWorked = records.size > 0
    return {
      value: hasWorked && failed.length === 0 ? 1 : 0,
      reason: hasWorked ? `${failed.length} of ${ended.length} calls of ${String(tool)} failed` : 'nothing was run',
    }
  },
  'answers-anew': ({ answer, options: { was } }) => ({
    value: answer !== '' && answer !== was ? 1 : 0,
    reason:
      answer === '' ? 'there is no answer' : answer === was ? 'the answer is what it was' : 'the answer is another one',
  }),
}
