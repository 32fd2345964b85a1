import { z } from 'zod'
import { defineAgent, defineTool, policyModel } from '../../src/index.ts'
import { zodJson } from '../../src/protocol/checks/zodJson.ts'
import { assert, describe } from '../support/suite.ts'

const model = policyModel(() => '')

describe('a schema that JSON has no form for', (it) => {
  for (const [schema, text] of [
    [z.object({ when: z.date() }), 'when: a date has no form in JSON: use z.iso.datetime(), which is text'],
    [z.object({ a: z.object({ at: z.array(z.object({ on: z.date().optional() })) }) }), 'a.at[].on: a date'],
    [z.object({ n: z.bigint() }), 'n: a bigint has no form in JSON: use z.int(), or text'],
    [z.object({ m: z.map(z.string(), z.string()) }), 'm: a Map has no form in JSON: use z.record'],
    [z.object({ r: z.record(z.string(), z.date()) }), 'r[]: a date'],
    [z.object({ u: z.union([z.string(), z.date()]) }), 'u: a date'],
    [z.date(), 'a date has no form in JSON'],
    [z.object({ f: z.instanceof(Map) }), 'f: z.custom and z.instanceof'],
  ] as const)
    it(`names the field and the way out: ${text.slice(0, 30)}`, () => {
      assert.throws(
        () => zodJson(schema),
        (thrown) => (thrown as Error).message.startsWith(text),
      )
    })

  it('is refused where a tool, an agent and its answer are defined', () => {
    const input = z.object({ when: z.date() })
    const says = /when: a date has no form in JSON: use z\.iso\.datetime\(\)/
    assert.throws(() => defineTool({ name: 't', description: 'x', input, run: () => '' }), says)
    assert.throws(() => defineAgent({ name: 'a', model, output: input }), says)
  })
})

describe('a zod schema that many agents have', (it) => {
  it('is read once, whatever is made of it', () => {
    const word = z.string()
    let reads = 0
    // As zod lets its own types say what they are in JSON Schema.
    const toJSONSchema = () => ({ type: 'string', description: `read ${(reads += 1)} times` })
    Object.assign(Reflect.get(word, '_zod') as object, { toJSONSchema })
    const input = z.object({ word })
    const tools = ['one', 'two'].map((name) => defineTool({ name, description: 'x', input, run: () => '' }))
    for (const name of ['a', 'b']) defineAgent({ name, model, tools, output: input })
    assert.is(reads, 1)
    assert.equal(tools[0]?.inputSchema, tools[1]?.inputSchema)
    assert.is(zodJson(z.object({ word })) === zodJson(input), false, 'by object')
  })
})
