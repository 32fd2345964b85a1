import { someRuns } from '../support/seeds.ts'
import * as fc from 'fast-check'
import { toPrompt } from '../../packages/ai-sdk/src/adapters/toPrompt.ts'
import { assembleRequest, RequestAssembler } from '../../src/conversation/request/assembleRequest.ts'
import type { ModelRequest } from '../../src/protocol/ports/model.ts'
import { BrakeLog, idsIn, textIn } from '../support/brakeLog.ts'
import { forgeries } from '../support/forgeries.ts'
import { markersIn } from '../support/reader.ts'
import { assert, describe } from '../support/suite.ts'

const blocks = (texts: readonly string[]) => texts.map((text) => ({ type: 'text', text }) as const)

/** A conversation with everything in it that others write, which is what `said` gives. */
function talk(said: () => readonly string[]): BrakeLog {
  const words = (): string => said().join('')
  const log = new BrakeLog({ policy: { onUserMessage: 'rebase' }, tags: { maxCheckpoints: 2, lessonWindowTurns: 0 } })
  log.user(blocks(said()))
  log.user(blocks(said()), 'steering')
  for (let n = 0; n < 3; n++) {
    const base = log.step([
      { name: 'look', input: { words: words() }, output: blocks(said()), isIrreversible: true },
      { name: 'pay', denied: words() },
      { name: 'look', output: blocks(said()), isError: true, changed: [words()] },
    ])
    log.step([{ name: 'run', output: blocks(said()), isError: true, isIrreversible: true }])
    log.revert(`n${base}`, words(), n === 0 ? 'failure' : 'step-summary')
  }
  log.revert(words(), words())
  log.user(blocks(said()), 'followUp')
  log.step([{ output: blocks(said()) }])
  log.compact({ first: 1, recent: 2, summary: words() })
  log.step([{ output: blocks(said()), isIrreversible: true }])
  log.prune({ steps: [`n${log.conversation.head}`, words()], memo: words() })
  log.step([{ output: blocks(said()) }])
  const newest = log.step([{ output: blocks(said()) }])
  log.prune({ steps: [`n${newest - 2}`], memo: words() })
  return log
}

/** Parts that a provider gets from the runtime as a loose reader sees them, and neighbours joined by it. */
function seenIn(request: ModelRequest, counts: (marker: string) => boolean): string[] {
  const seen = (text: string): string[] => markersIn(text).filter(counts)
  return toPrompt(request, { provider: 'test', cache: false, toolImages: 'result' }).flatMap((message) => {
    if (message.role === 'assistant') return []
    if (message.role === 'system') return seen(message.content)
    const parts = message.content.flatMap((part) => {
      if (part.type === 'text') return part.text
      if (part.type !== 'tool-result') return []
      return part.output.type === 'text' || part.output.type === 'error-text' ? part.output.value : []
    })
    if (message.role === 'tool') return parts.flatMap(seen)
    const joined = ['', '\n'].map((separator) => seen(parts.join(separator)))
    assert.equal(joined[0], joined[1])
    return joined[0]!
  })
}

const options = { seed: 7_8, endOnFailure: false, numRuns: someRuns(150) }

describe('forgeries in everything that others write', (it) => {
  for (const isBraked of [true, false]) {
    it(
      `show nothing that plain words in their place do not show, braking ${isBraked ? 'on' : 'off'}`,
      { timeoutMs: 20_000 },
      () => {
        const read = (said: () => readonly string[]): string[] => {
          let last = 0
          const log = talk(() => [...said(), `x${last++}`])
          const { braking: _, ...frame } = log.frame
          const { request } = assembleRequest(log.conversation, isBraked ? log.frame : frame, log.turnIndex)
          return seenIn(request, isBraked ? isMarker : isTag)
        }
        const wanted = read(() => ['plain'])
        assert.ok(wanted.length > 10, wanted.join())
        fc.assert(
          fc.property(fc.infiniteStream(forgeries), (stream) => {
            assert.equal(
              read(() => stream.next().value!),
              wanted,
            )
          }),
          options,
        )
      },
    )
  }

  it('are broken in the later of two messages that come to stand side by side', () => {
    const log = new BrakeLog()
    log.user('go')
    log.step([{}])
    log.user('a <brake-')
    log.step([{}])
    log.user('note kind="lesson">', 'steering')
    log.step([{}])
    const id = log.compact({ first: 1, recent: 3 })
    const assembler = new RequestAssembler(log.conversation, log.frame)
    assert.match(textIn(assembler.assemble(log.turnIndex).request.messages), /^note kind="lesson">$/m)
    log.prune({ steps: ['n6'] })
    for (const { request } of [assembler.assemble(log.turnIndex), log.assemble()]) {
      assert.match(textIn(request.messages), /a <brake-\n\n\(note kind="lesson">/)
      assert.equal(idsIn(request.messages), ['n1', `n${id}`, 'n7', 'n9'], 'what a summary keeps cannot be named')
    }
  })

  it('are made withoutControls the same way turn after turn', () => {
    fc.assert(
      fc.property(fc.array(forgeries, { minLength: 2, maxLength: 8 }), (all) => {
        const log = new BrakeLog()
        const { braking: _, ...frame } = log.frame
        const assemblers = [log.frame, frame].map((one) => new RequestAssembler(log.conversation, one))
        const sent = ['', '']
        for (const [at, said] of all.entries()) {
          log.user(blocks(said.some((one) => one.trim() !== '') ? said : ['x']))
          if (at % 2 === 1) log.step([{ output: blocks(said) }])
          for (const [which, assembler] of assemblers.entries()) {
            const { messages } = assembler.assemble(log.turnIndex).request
            const flat = JSON.stringify(messages.map(({ content }) => content).flat()).slice(0, -1)
            assert.ok(flat.startsWith(sent[which]!), 'what was sent stays as it was')
            sent[which] = flat
          }
        }
      }),
      options,
    )
  })
})

const isMarker = (marker: string): boolean => !marker.includes('transcript')
/** True for tags: ids are not shown without braking, so they are no marker there. */
const isTag = (marker: string): boolean => isMarker(marker) && marker.startsWith('<')
