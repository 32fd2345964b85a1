import { z } from 'zod'
import {
  type AnsweredRun,
  defineAgent,
  deferred,
  defineTool,
  policyModel,
  type RunResult,
  type ToolEventOf,
} from '../../src/index.ts'
import { type Equal, expectType } from './typeEquality.ts'

// What a result has is told by why it ended.
export function tell(result: RunResult<{ score: number }>): string {
  switch (result.stopReason) {
    case 'stop':
      expectType<Equal<typeof result, AnsweredRun<{ score: number }>>>()
      return result.output.score.toFixed(1)
    case 'paused':
      return result.reason.type === 'limit' ? result.reason.limit : result.reason.type
    case 'error':
      return result.error.message
    case 'aborted':
      return result.error?.message ?? 'aborted'
    case 'length':
    case 'refusal':
      expectType<Equal<typeof result.output, undefined>>()
      return result.text
  }
}

// Without looking why, everything may be missing.
export function peek({ output, reason, error }: RunResult<number>): void {
  expectType<Equal<typeof output, number | undefined>>()
  expectType<Equal<NonNullable<typeof error>['code'], string>>()
  // @ts-expect-error it may not be paused
  void reason.type
}

const read = defineTool({
  name: 'read_file',
  description: 'Read a file.',
  input: z.object({ path: z.string(), lines: z.number().default(10) }),
  run: () => '',
})
const stop = defineTool({ name: 'stop', description: 'Stop.', input: z.object({ why: z.string() }), run: () => '' })
const coder = defineAgent({ name: 'coder', model: policyModel(() => ''), tools: [read, stop] })

// The arguments of a call are told by its name: as the model sends them, before defaults.
export function show(event: ToolEventOf<typeof coder>): string {
  // @ts-expect-error no such tool
  if (event.name === 'write_file') return ''
  if (event.type === 'tool.start' && event.name === 'read_file') {
    expectType<Equal<typeof event.input, { path: string; lines?: number | undefined }>>()
    return event.input.path
  }
  if (event.type === 'tool.start') return event.input.why
  if (event.type === 'tool.end') return event.message.content.length.toFixed()
  return String(event.progress)
}

const save = defineTool({
  name: 'save',
  description: 'Save.',
  input: z.object({}),
  output: z.object({ id: z.string(), at: z.date(), note: z.string().optional() }),
  run: () => ({ id: 'x', at: new Date() }),
})
const list = defineTool({
  name: 'list',
  description: 'List.',
  input: z.object({}),
  output: z.array(z.string()),
  run: () => ['x'],
})
const keeper = defineAgent({ name: 'keeper', model: policyModel(() => ''), tools: [save, list, deferred([read])] })

// So is the data of its result: as JSON of what the output schema gives.
export function saved(event: ToolEventOf<typeof keeper>): void {
  if (event.type === 'tool.end' && event.name === 'save')
    expectType<
      Equal<
        typeof event.data,
        { readonly id: string; readonly at: string; readonly note?: string | undefined } | undefined
      >
    >()
  if (event.type === 'tool.end' && event.name === 'list')
    expectType<Equal<typeof event.data, readonly string[] | { readonly value: readonly string[] } | undefined>>()
  if (event.type === 'tool.end' && event.name === 'read_file') expectType<Equal<typeof event.data, unknown>>()
  // @ts-expect-error only results have data
  if (event.type === 'tool.start') void event.data
}
