import type { Pending } from '../../../../src/protocol/runs/pending.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { askedOf, asShown, decideBy, fitsForm, formFor } from '../../src/server/people.ts'
import { progressOf, ProgressTeller } from '../../src/server/progress.ts'
import type { DrivenAgent } from '../../../bridge/src/server/drivenAgent.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const one = (kind: Pending['kind'], more: object = {}): Pending =>
  ({ kind, agentId: 'a', callId: 'c', key: 'k', name: 'pay', input: { to: 'ann' }, ...more }) as never
const question = one('question', { question: 'How many?', schema: { type: 'number' } })
const long = { text: 'x'.repeat(20_000) }
const accept = (content?: object | null) => ({ action: 'accept', ...(content === undefined ? {} : { content }) })

interface Given {
  readonly shown?: string
  readonly refusal?: Error
  readonly checkAdmitted?: () => void
}

/** Returns the decision that a client's answer makes on something that waits. */
async function decided(
  pending: Pending,
  answer: unknown,
  { shown = asShown(pending), refusal, checkAdmitted = () => {} }: Given = {},
) {
  const decisions: unknown[] = []
  const agent = {
    pending: () => [pending],
    decide: (...given: readonly unknown[]) => {
      if (refusal !== undefined) throw refusal
      decisions.push(given)
    },
  } as unknown as DrivenAgent
  const { count, problems } = await decideBy(
    agent,
    { k: { answer, shown }, toString: { answer, shown } as never },
    { checkAdmitted },
  )
  return { decisions, count, problems: [...problems] }
}

describe('what people decide through a client of MCP', (it) => {
  it('is nothing once the client is no longer let in', async () => {
    const withdrawn = new RuntimeError('BRIDGE_UNAUTHORISED', 'Gone.')
    const checkAdmitted = (): void => {
      throw withdrawn
    }
    await assert.rejects(
      decided(one('approval'), accept({ approve: true }), { checkAdmitted }),
      withCode('BRIDGE_UNAUTHORISED'),
    )
  })

  const cases: readonly (readonly [what: string, pending: Pending, answer: unknown, decision: unknown])[] = [
    ['approves', one('approval'), accept({ approve: true }), ['k', 'approve', {}]],
    ['denies, with why', one('approval'), accept({ approve: false, reason: 'No.' }), ['k', 'deny', { reason: 'No.' }]],
    [
      'denies',
      one('approval'),
      accept({ approve: false, reason: ' ' }),
      ['k', 'deny', { reason: 'Rejected by the user.' }],
    ],
    [
      'denies where nothing is filled in',
      one('approval'),
      accept(),
      ['k', 'deny', { reason: 'Rejected by the user.' }],
    ],
    [
      'denies by declining',
      one('approval'),
      { action: 'decline' },
      ['k', 'deny', { reason: 'The user did not want to answer.' }],
    ],
    [
      'denies by dismissing',
      one('approval'),
      { action: 'cancel', content: null },
      ['k', 'deny', { reason: 'The question was dismissed.' }],
    ],
    ['does what was asked for', one('call'), accept({ result: 'done' }), ['k', { result: 'done' }, {}]],
    ['says nothing of a call without its result', one('call'), accept({}), undefined],
    ['answers', question, accept({ answer: 7 }), ['k', { value: 7 }, {}]],
    ['says nothing that can be read', one('approval'), { action: 'perhaps' }, undefined],
    ['says nothing at all', one('approval'), undefined, undefined],
    [
      'approves nothing that was not shown as a whole',
      one('approval', { input: long }),
      accept({ approve: true }),
      undefined,
    ],
    [
      'may decline what was not shown as a whole',
      one('approval', { input: long }),
      { action: 'decline' },
      ['k', 'deny', { reason: 'The user did not want to answer.' }],
    ],
    [
      'answers whatever the call is given',
      { ...question, input: long },
      accept({ answer: 7 }),
      ['k', { value: 7 }, {}],
    ],
  ]
  for (const [what, pending, answer, decision] of cases)
    it(what, async () => {
      const { decisions, count } = await decided(pending, answer)
      assert.equal([decisions, count], decision === undefined ? [[], 0] : [[decision], 1])
    })

  it('is about what they were shown alone', async () => {
    for (const other of [
      one('approval', { input: { to: 'ben' } }),
      one('approval', { name: 'look' }),
      one('approval', { agentId: 'b' }),
      one('call'),
    ])
      assert.is((await decided(one('approval'), accept({ approve: true }), { shown: asShown(other) })).count, 0)
    for (const more of [{ question: 'What?' }, { schema: {} }])
      assert.is.not(asShown(question), asShown({ ...question, ...more }))
    assert.is(asShown(question), asShown({ ...question, problem: 'No number.' } as never))
  })

  it('tells what was wrong with an answer, and nothing of what somebody else decided', async () => {
    const wrong = await decided(question, accept({ answer: 7 }), {
      refusal: new RuntimeError('ANSWER_INVALID', 'No number.'),
    })
    assert.is(wrong.count, 0)
    assert.match(JSON.stringify(wrong.problems), /"k".*No number/)
    const late = await decided(question, accept({ answer: 7 }), {
      refusal: new RuntimeError('CALL_NOT_PENDING', 'Gone.'),
    })
    assert.equal([late.count, late.problems], [0, []])
  })

  it('is asked with all that the call is given, or with where it can be seen', () => {
    for (const kind of ['approval', 'call'] as const) {
      assert.match(askedOf(one(kind)), 'ann')
      assert.match(formFor(one(kind)).message, 'ann')
      assert.not.match(askedOf(one(kind, { input: long })), 'xxxx')
      assert.match(askedOf(one(kind, { input: long })), 'too long to be shown here')
      assert.equal([fitsForm(one(kind)), fitsForm(one(kind, { input: long }))], [true, false])
    }
    assert.is(fitsForm({ ...question, input: long }), true)
    assert.is(askedOf(question), 'How many?')
    assert.match(
      askedOf({ ...question, problem: 'No number.' } as never),
      'How many?\n(The last answer did not do: No number.)',
    )
  })
})

describe('what who waits is told', (it) => {
  const event = (type: string, more: object) => ({ type, agentId: 'a', path: [], seq: 1, time: 0, ...more }) as never
  const reply = (text: string, more: object = {}) =>
    event('reply.end', { message: { content: [{ type: 'text', text }] }, ...more })

  it('is what is called, how far it is, and what is said, by whom', () => {
    assert.match(progressOf(event('tool.start', { name: 'pay', input: {} }), 'a')!, 'pay')
    assert.match(progressOf(event('tool.progress', { progress: 'half' }), 'a')!, 'half')
    assert.is(progressOf(reply('Hello\nthere'), 'a'), 'Hello there')
    assert.match(progressOf(reply('Hello', { agentId: 'a.1' }), 'a')!, /^a\.1: Hello$/)
    assert.equal([progressOf(reply(''), 'a'), progressOf(event('turn.start', {}), 'a')], [undefined, undefined])
    assert.ok(progressOf(reply('x'.repeat(500)), 'a')!.length <= 200)
  })

  it('comes one at a time, the newest of what waits, and nothing after the end', async () => {
    const sent: string[] = []
    const waits: PromiseWithResolvers<void>[] = []
    const teller = new ProgressTeller((count, message) => {
      sent.push(`${count} ${message}`)
      waits.push(Promise.withResolvers<void>())
      return waits.at(-1)!.promise
    })
    const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
    for (const message of ['a', 'b', 'c']) teller.tell(message)
    assert.equal(sent, ['1 a'])
    waits[0]!.resolve()
    await turn()
    assert.equal(sent, ['1 a', '2 c'])
    waits[1]!.resolve()
    await turn()
    teller.tell('d')
    teller.tell('e')
    teller.end()
    waits[2]!.resolve()
    await turn()
    teller.tell('f')
    assert.equal(sent, ['1 a', '2 c', '3 d'])
    const gone = new ProgressTeller(async (_, message) => {
      sent.push(message)
      throw new Error('gone')
    })
    gone.tell('g')
    await turn()
    gone.tell('h')
    await turn()
    assert.equal(sent.slice(3), ['g'])
  })
})
