import * as fc from 'fast-check'
import { z } from 'zod'
import { createRuntime, defineAgent, partialOutput } from '../../src/index.ts'
import type { Model } from '../../src/protocol/ports/model.ts'
import { readPartialJson } from '../../src/protocol/runs/partialJson.ts'
import { someRuns } from '../support/seeds.ts'
import { assert, describe } from '../support/suite.ts'

/** True if the first is a beginning of the second. */
function isBeginning(part: unknown, whole: unknown): boolean {
  if (typeof part === 'string') return typeof whole === 'string' && whole.startsWith(part)
  if (Array.isArray(part))
    return Array.isArray(whole) && part.length <= whole.length && part.every((item, at) => isBeginning(item, whole[at]))
  if (typeof part === 'object' && part !== null) {
    if (typeof whole !== 'object' || whole === null || Array.isArray(whole)) return false
    const members = new Map(Object.entries(whole))
    return Object.entries(part).every(([key, member]) => members.has(key) && isBeginning(member, members.get(key)))
  }
  return Object.is(part, whole)
}

const texts = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('\\', '"', '\\u', '\u0001😀', '__proto__', '\n'),
)
const values = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, false),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
    texts,
    tie('list'),
    tie('object'),
  ),
  list: fc.array(tie('any'), { maxLength: 4 }),
  object: fc.dictionary(texts, tie('any'), { maxKeys: 4, noNullPrototype: true }),
}))
const roots = fc.oneof(values.list, values.object)

describe('a JSON text of which only the beginning is there', (it) => {
  it('has a value that is a beginning of the whole one, and only grows', { timeoutMs: 20_000 }, () => {
    fc.assert(
      fc.property(roots, fc.constantFrom(0, 2), fc.boolean(), (whole, indent, isEscaped) => {
        // Not what `JSON.parse` makes of it: that of some versions of Node mixes up keys such as "\n" and "\\".
        const plain = JSON.stringify(whole, null, indent)
        const text = isEscaped
          ? plain.replace(/[\u0080-\uffff]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
          : plain
        let before: unknown
        for (let end = 1; end <= text.length; end += 1) {
          const part = readPartialJson(text.slice(0, end))
          if (before !== undefined && !isBeginning(before, part)) return false
          if (!isBeginning(part, whole)) return false
          before = part
        }
        assert.equal(before, whole)
        return true
      }),
      { numRuns: someRuns(300) },
    )
  })

  it('never throws, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'{}[]",:\\u1e-. tnf\n'.split('')) }), (text) => {
        readPartialJson(text)
      }),
      { numRuns: someRuns(2_000) },
    )
    assert.ok(Array.isArray(readPartialJson('['.repeat(100_000))))
  })

  it('takes time in proportion to its length, also when it is nothing but escapes', () => {
    const text = `{"a":"${'\\\\'.repeat(500_000)}`
    assert.is((readPartialJson(text) as { a: string }).a.length, 500_000)
  })
})

describe('partialOutput', (it) => {
  const cases: readonly [string, unknown][] = [
    ['', undefined],
    ['Let me see.', undefined],
    ['{', {}],
    ['{"city":"Pa', { city: 'Pa' }],
    ['{"city":"Paris","days":1', { city: 'Paris' }],
    ['{"city":"Paris","days":12,', { city: 'Paris', days: 12 }],
    ['{"list":[{"a":tru', { list: [{}] }],
    ['```json\n{"a":1,', { a: 1 }],
    ['Here it is:\n```json\n{"a":"b', { a: 'b' }],
    ['{"a":1}\n```', { a: 1 }],
    ['{"a":"\\ud83d', { a: '' }],
    ['{"a":"x\\', { a: 'x' }],
    ['"half of a se', 'half of a se'],
  ]
  for (const [text, value] of cases)
    it(`reads ${JSON.stringify(text)}`, () => {
      assert.equal(partialOutput(text), value)
    })
})

const trip = z.object({ city: z.string(), days: z.number() })

/** Says its replies in pieces of three letters. */
function speaking(...replies: readonly string[]): Model {
  const rest = [...replies]
  return {
    id: 'test:speaking',
    async *stream() {
      const text = rest.shift() ?? ''
      for (let at = 0; at < text.length; at += 3) yield { type: 'text.delta', text: text.slice(at, at + 3) }
      const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }
      yield { type: 'done', reply: { content: [{ type: 'text', text }], stopReason: 'stop', usage } }
    },
  }
}

describe('the answer of a run as it grows', (it) => {
  it('ends with the whole output', async ({ cleanup }) => {
    const runtime = await createRuntime()
    cleanup(() => runtime.close())
    const definition = defineAgent({ name: 'planner', model: speaking('{"city":"Paris","days":3}'), output: trip })
    const agent = await runtime.spawn(definition)
    const run = agent.prompt('Plan a trip.')
    const parts: unknown[] = []
    for await (const part of run.partialOutput()) parts.push(part)
    assert.ok(parts.length > 3)
    assert.ok(parts.every((part) => isBeginning(part, { city: 'Paris', days: 3 })))
    assert.equal(parts.at(-1), { city: 'Paris', days: 3 })
    assert.equal((await run.result).stopReason, 'stop')
  })

  it('begins anew when the answer is asked for again', async ({ cleanup }) => {
    const runtime = await createRuntime()
    cleanup(() => runtime.close())
    const model = speaking('{"city":"Rome","days":"many"}', '{"city":"Paris","days":3}')
    const agent = await runtime.spawn(defineAgent({ name: 'planner', model, output: trip }))
    const cities = new Set<unknown>()
    for await (const part of agent.prompt('Plan a trip.').partialOutput()) cities.add((part as { city?: string }).city)
    assert.ok(cities.has('Rome') && cities.has('Paris'))
    assert.ok(
      [...cities].every((city) => city === undefined || isBeginning(city, 'Rome') || isBeginning(city, 'Paris')),
    )
  })

  it('is nothing for a run without an answer', async ({ cleanup }) => {
    const runtime = await createRuntime()
    cleanup(() => runtime.close())
    const agent = await runtime.spawn(defineAgent({ name: 'talker', model: speaking('Hello.') }))
    for await (const part of agent.prompt('Hi').partialOutput()) assert.unreachable(String(part))
  })
})
