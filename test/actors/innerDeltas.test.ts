import * as fc from 'fast-check'
import type { Callee } from '../../src/actors/define/agentDefinition.ts'
import { InnerDeltas } from '../../src/actors/parts/deferred/innerDeltas.ts'
import { tool } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const definition = {
  tools: new Map([['look', tool('look', () => '')]]),
  agents: new Map<string, Callee>(),
  deferred: { names: new Set(['look']), sources: new Set<string>() },
}

/** Parts that are passed on of a call of this tool whose arguments come in these pieces; only the first has the name. */
function passedOn(pieces: readonly string[], name = 'call_tool', deferring = true): readonly unknown[] {
  const deltas = new InnerDeltas(deferring ? definition : { ...definition, deferred: null })
  return pieces.flatMap((text, index) => {
    const part = { type: 'toolCall.delta', callId: 'c', text, ...(index === 0 ? { name } : {}) } as const
    return deltas.next(part) ?? []
  })
}

const textOf = (parts: readonly unknown[]): string => parts.map((part) => (part as { text: string }).text).join('')

describe('the parts of a call of a deferred tool', (it) => {
  it('are those of its arguments, however the text is cut', () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue())
    fc.assert(
      fc.property(object, fc.nat(5), fc.array(fc.nat(400)), (input, indent, cuts) => {
        const text = JSON.stringify({ name: 'look', input }, null, indent)
        const at = [0, ...cuts.filter((cut) => cut < text.length).toSorted((a, b) => a - b), text.length]
        const parts = passedOn(at.slice(1).map((end, index) => text.slice(at[index], end)))
        assert.equal(JSON.parse(textOf(parts)), JSON.parse(JSON.stringify(input)))
        for (const part of parts) assert.is((part as { name: string }).name, 'look')
      }),
      { seed: 36, numRuns: 300 },
    )
  })

  it('are none of a call in another form, and of a tool that there is not', () => {
    for (const text of [
      '{"input":{"a":1},"name":"look"}',
      '{"name":"nothing","input":{"a":1}}',
      '{"name":"look","input":"{}"}',
      '{"name":"look","input":[1]}',
      `{${' '.repeat(400)}"name":"look","input":{}}`,
      'no json',
      '',
    ])
      assert.equal(passedOn([...text]), [], text)
  })

  it('are as they are of every other call, and where no tool is deferred', () => {
    const pieces = ['{"name":"look",', '"input":{}}']
    assert.is(textOf(passedOn(pieces, 'own')), pieces.join(''))
    assert.is(textOf(passedOn(pieces, 'call_tool', false)), pieces.join(''))
  })
})
