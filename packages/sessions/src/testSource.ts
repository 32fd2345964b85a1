import type { RecordedReply, RecordedResult, RecordedRun } from './recordedRuns.ts'
import { testLiteral } from './testLiteral.ts'

/** Assertion of a test: the last run ends well, no call of it fails, or something about its answer. */
export type Wanted =
  | { readonly type: 'end'; readonly was: string; readonly why: string }
  | { readonly type: 'calls'; readonly name: string }
  | { readonly type: 'answer' }

export interface TestParts {
  readonly agentId: string
  readonly definition: string
  /** Time of the recording, in epoch milliseconds. */
  readonly time: number
  readonly runs: readonly RecordedRun[]
  /** Number of replies that are not played. */
  readonly leftOut: number
  readonly results: ReadonlyMap<string, RecordedResult>
  readonly wanted: Wanted
  /** Text that the answer should contain. */
  readonly expect?: string
}

/** Returns true for a valid tool name. A model may have called tools with other names. */
export const isToolName = (name: string): boolean => /^[A-Za-z0-9_-]{1,64}$/.test(name)

/** Reply given where the recording has no more replies. */
export const closing = 'The recording of this run ends here.'

/** Returns the text of a test file. Pure. */
export function testSource(parts: TestParts): string {
  const { runs, results, wanted, expect } = parts
  const replies = runs.flatMap((run, at) => repliesOf(run, at === runs.length - 1))
  const calls = replies.flatMap((reply) => ('toolCalls' in reply ? (reply.toolCalls ?? []) : []))
  const names = [...new Set(calls.map(({ name }) => name))].filter(isToolName)
  const said = saidAt(runs, results)
  const hasTools = names.length > 0
  return [
    ...headOf(parts),
    "import { test } from 'uvu'",
    "import * as assert from 'uvu/assert'",
    `import { createRuntime, defineAgent${hasTools ? ', defineTool' : ''}${said.length === 0 ? '' : ', type Agent'} } from 'escapement'`,
    "import { scriptedModel, type ScriptedReply } from 'escapement/testing'",
    '',
    '/** Replies of the model. */',
    `const replies: ScriptedReply[] = ${testLiteral(replies)}`,
    '',
    ...(hasTools
      ? toolLines(
          names,
          calls.map(({ callId }) => callId),
          results,
        )
      : []),
    ...(said.length === 0 ? [] : saidLines(said)),
    `test(${testLiteral(titleOf(wanted, expect))}, async () => {`,
    `  const model = scriptedModel(${said.length === 0 ? 'replies' : 'script'})`,
    '  const runtime = await createRuntime()',
    '  try {',
    '    const definition = defineAgent({',
    "      name: 'recorded',",
    '      model,',
    ...(hasTools ? ['      tools,'] : []),
    '      retry: { attempts: 1 },',
    '    })',
    `    ${said.length === 0 ? 'const ' : ''}agent = await runtime.spawn(definition)`,
    ...runs.flatMap((run, at) =>
      promptLines(run, at === runs.length - 1, at === runs.length - 1 && wanted.type !== 'calls'),
    ),
    '    model.assertComplete()',
    ...assertions(parts, runs.at(-1)!).map((line) => `    ${line}`),
    '  } finally {',
    '    await runtime.close()',
    '  }',
    '})',
    '',
    'test.run()',
    '',
  ].join('\n')
}

function headOf({ agentId, definition, time, runs, leftOut }: TestParts): readonly string[] {
  const date = Number.isFinite(time) && Math.abs(time) < 8e15 ? new Date(time).toISOString().slice(0, 10) : 'once'
  const other = runs.flatMap(({ end }) => (end?.type === 'elsewhere' ? [end.what] : []))
  return [
    `// Session ${testLiteral(agentId)} of ${testLiteral(definition)}, recorded ${date}. The model replies what it replied then, and tools give what they gave:`,
    '// put your own in their place, and make the assertions hold. Needs the packages escapement and uvu.',
    ...(leftOut === 0 ? [] : [`// Only the end of it is played: ${leftOut} replies before are left out.`]),
    ...(other.length === 0
      ? []
      : [
          `// Replies alone do not bring about everything that happened: ${inComment([...new Set(other)].join(', '))}.`,
        ]),
  ]
}

/** Returns a text that cannot end a comment. */
export const inComment = (text: string): string => testLiteral(text).slice(1, -1)

/** Entry of a script: a reply, or a failure of the model. */
export type ScriptEntry =
  | Omit<RecordedReply, 'said'>
  | { readonly error: { readonly kind: string; readonly message: string } }

/** Returns the replies of a run such that it ends. A run that an abort, a person or a limit ended early is closed by an added reply. */
export function repliesOf({ replies, end }: RecordedRun, isLast: boolean): readonly ScriptEntry[] {
  const own: ScriptEntry[] = replies.map(({ said: _, ...reply }) => reply)
  const isAnswered = replies.length > 0 && replies.at(-1)!.toolCalls === undefined
  if (end?.type === 'modelError') own.push({ error: { kind: end.kind, message: end.message } })
  else if (!isAnswered && !(isLast && end?.type === 'limit')) own.push({ text: closing })
  return own
}

interface Said {
  readonly at: number
  readonly said: NonNullable<RecordedReply['said']>
}

/**
 * Returns the messages that people sent in the middle of runs, by the position of the reply in the script. Messages sent during calls
 * are left out: sent during the reply, they would keep the calls from being carried out, and no scripted reply needs them.
 */
function saidAt(runs: readonly RecordedRun[], results: TestParts['results']): readonly Said[] {
  const all: Said[] = []
  let start = 0
  for (const [place, run] of runs.entries()) {
    for (const [at, { said = [], toolCalls = [] }] of run.replies.entries()) {
      const wereSkipped = toolCalls.every(({ callId }) => results.get(callId)?.wasSkipped === true)
      const heard = said.filter(({ how }) => how === 'followUp' || wereSkipped)
      // What came after the last reply came too late to be heard.
      if (heard.length > 0 && at < run.replies.length - 1) all.push({ at: start + at, said: heard })
    }
    start += repliesOf(run, place === runs.length - 1).length
  }
  return all
}

const saidLines = (said: readonly Said[]): string[] => [
  '/** Messages of people while a reply came, by its place. */',
  "const said: Record<number, readonly { how: 'steer' | 'followUp'; text: string }[]> = {",
  ...said.map((each) => `  ${each.at}: ${testLiteral(each.said, 2)},`),
  '}',
  '',
  'let agent: Agent',
  'const script = replies.map((reply, at): ScriptedReply => {',
  '  const then = said[at]',
  '  if (then === undefined) return reply',
  '  return () => {',
  '    for (const { how, text } of then) agent[how](text)',
  '    return reply as { text: string }',
  '  }',
  '})',
  '',
]

function toolLines(
  names: readonly string[],
  callIds: readonly string[],
  results: ReadonlyMap<string, RecordedResult>,
): string[] {
  const given = callIds.flatMap((callId) => {
    const result = results.get(callId)
    return result === undefined ? [] : [[callId, { text: result.text, isError: result.isError }] as const]
  })
  return [
    '/** Results of calls, by their ids in the replies. */',
    `const results: Record<string, { text: string; isError: boolean }> = ${testLiteral(Object.fromEntries(given))}`,
    '',
    `const tools = ${testLiteral(names)}.map((name) =>`,
    '  defineTool({',
    '    name,',
    "    description: 'Gives what was recorded.',",
    "    input: { jsonSchema: { type: 'object' } },",
    "    effects: 'none',",
    '    run: (_, { callId }) => {',
    "      const { text, isError } = results[callId] ?? { text: 'Nothing was recorded.', isError: true }",
    '      if (isError) throw new Error(text)',
    '      return text',
    '    },',
    '  }),',
    ')',
    '',
  ]
}

/** Returns the lines for one prompt. `isAsserted`: the test asserts something about the result. */
function promptLines({ said, replies, end }: RecordedRun, isLast: boolean, isAsserted: boolean): readonly string[] {
  const context = said.slice(0, -1).map((content) => ({ content }))
  const options = {
    ...(context.length === 0 ? {} : { context }),
    ...(isLast && end?.type === 'limit' ? { limits: { turns: Math.max(1, replies.length) } } : {}),
  }
  const args = [said.at(-1)!, ...(Object.keys(options).length === 0 ? [] : [options])]
  const prompt = `await agent.prompt(${args.map((arg) => testLiteral(arg, 4)).join(', ')}).result`
  return [`    ${isAsserted ? 'const result = ' : ''}${prompt}`]
}

function titleOf(wanted: Wanted, expect: string | undefined): string {
  if (wanted.type === 'end') return 'the run ends with an answer'
  if (wanted.type === 'calls') return `no call of ${wanted.name} fails`
  return expect === undefined ? 'the answer is another one' : `the answer has ${expect.slice(0, 100)}`
}

function assertions({ wanted, expect }: TestParts, last: RecordedRun): readonly string[] {
  const answer =
    expect === undefined
      ? []
      : [`assert.ok(result.text.includes(${testLiteral(expect)}), \`the answer was: \${result.text}\`)`]
  if (wanted.type === 'end')
    return [
      ...(wanted.why === '' ? [] : [`// It was: ${testLiteral(`${wanted.was}, ${wanted.why}`.slice(0, 300))}`]),
      "assert.is(result.stopReason, 'stop')",
      ...answer,
    ]
  if (wanted.type === 'calls')
    return [
      'const failed = agent.conversation.log().flatMap(({ message }) =>',
      `  message.role === 'toolResult' && message.toolName === ${testLiteral(wanted.name)}`,
      '    && message.isError && message.synthetic === undefined ? message.content : [],',
      ')',
      'assert.equal(failed, [])',
    ]
  if (expect !== undefined) return answer
  return [
    '// Say here what the answer should be.',
    `assert.is.not(result.text, ${testLiteral(last.replies.at(-1)?.toolCalls === undefined ? (last.replies.at(-1)?.text ?? closing) : closing)})`,
  ]
}
