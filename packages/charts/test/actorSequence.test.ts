import { XMLValidator } from 'fast-xml-parser'
import { actorSequence, isTold, type SequenceLog } from '../src/actorSequence.ts'
import { sequenceMermaid, sequenceSvg } from '../src/sequencePictures.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { nasty } from './chartedMachines.ts'
import { saidNasty, worked } from './workedAgents.ts'

const told = (...logs: Parameters<typeof actorSequence>): string[] =>
  actorSequence(...logs).steps.map(({ from, to, kind, text }) => `${from || '-'} ${to || '-'} ${kind} ${text}`)

describe('who called whom', (it) => {
  it('is told by the log of the caller alone: what it was asked, whom it called and what came of it', async (context) => {
    const { root } = await worked(context)
    assert.equal(told(root), [
      '- a1 said Tidy up.',
      'a1 a1.1 call worker erase it',
      'a1.1 a1 result done',
      'a1 - result done',
    ])
    const { lanes } = actorSequence(root)
    assert.equal(
      lanes.map(({ id, isRead, definition }) => [id, isRead, definition]),
      [
        ['', true, undefined],
        ['a1', true, 'chief'],
        ['a1.1', false, undefined],
      ],
    )
  })

  it('has with the logs of the called what those asked people, in its place', async (context) => {
    const { root, below } = await worked(context)
    assert.equal(told(root, [below]), [
      '- a1 said Tidy up.',
      'a1 a1.1 call worker erase it',
      'a1.1 - asks wants to run erase old.txt',
      '- a1.1 answer approve',
      'a1.1 a1 result done',
      'a1 - result done',
    ])
    // A machine may be so fast that everything is of one millisecond.
    const atOnce = ({ agentId, records }: SequenceLog): SequenceLog => ({
      agentId,
      records: records.map((record) => ({ ...record, time: 0 })),
    })
    assert.equal(told(atOnce(root), [atOnce(below)]), told(root, [below]))
    assert.is(actorSequence(root, [below]).lanes[2]!.definition, 'worker')
  })

  it('of an agent that is looked at by itself is what its caller told it', async (context) => {
    const { below } = await worked(context)
    assert.match(told(below)[0]!, /^- a1\.1 said /)
  })

  it('tells of reports, handoffs, questions, calls for clients and the ends of those that code started', () => {
    const base = { v: 3, time: 1, agentId: 'a', runId: 'a/r0', turnIndex: 0, callId: 'c' } as const
    const content = [{ type: 'text' as const, text: 'Half of it is done.' }]
    const provenance = { type: 'report', agentId: 'a.2', name: 'look', callId: 'c' } as const
    const ended = { ...base, type: 'child.ended', childId: 'a.1', spent: {} }
    const happened: readonly object[] = [
      { ...base, type: 'child.spawned', childId: 'a.1', definition: 'helper' },
      ended,
      { ...ended, error: { code: 'CHILD_CRASHED', message: 'It crashed.' } },
      { ...base, type: 'message.added', message: { role: 'user', source: 'followUp', content, provenance } },
      { ...base, type: 'tool.end', key: 'k', handoff: 'closer', message: { isError: false, content } },
      { ...base, type: 'question.asked', question: 'Which one?' },
      { ...base, type: 'question.answered' },
      { ...base, type: 'call.requested', name: 'open', input: { door: 2 } },
      { ...base, type: 'approval.decided', decision: 'deny', reason: 'too early' },
      { ...base, type: 'run.end', stopReason: 'paused', reason: { type: 'limit' } },
      { ...base, type: 'run.end', stopReason: 'error' },
    ]
    const records = happened.map((record, index) => ({
      ...record,
      seq: index + 1,
    })) as unknown as SequenceLog['records']
    assert.equal(told({ agentId: 'a', records }), [
      'a a.1 call starts helper',
      'a.1 a result ended',
      'a.1 a failure CHILD_CRASHED: It crashed.',
      'a.2 a report Half of it is done.',
      'a a handoff hands over to closer',
      'a - asks Which one?',
      '- a answer answers',
      'a - asks to carry out open {"door":2}',
      '- a answer deny: too early',
      'a - result paused: limit',
      'a - failure error',
    ])
    assert.ok(records.every(isTold))
  })

  it('keeps the order of every log, also when a clock went back', async (context) => {
    const { root, below } = await worked(context)
    const records = root.records.map((record, index) => ({ ...record, time: 1_000_000 - index * 1_000 }))
    const seqs = actorSequence({ ...root, records }, [below])
      .steps.filter(({ agentId }) => agentId === 'a1')
      .map(({ seq }) => seq)
    assert.equal(
      seqs,
      seqs.toSorted((a, b) => a - b),
    )
  })

  it('ends with what has happened, and calls that are open have no result', async (context) => {
    const { root } = await worked(context)
    const end = root.records.findIndex(({ type }) => type === 'tool.start')
    assert.is(told({ ...root, records: root.records.slice(0, end + 1) }).at(-1), 'a1 a1.1 call worker erase it')
  })

  it('is drawn as an SVG that stands alone, whatever was said', async (context) => {
    const { root, below } = await worked(context)
    const sequence = actorSequence(saidNasty(root), [below])
    const svg = sequenceSvg(sequence, nasty)
    assert.is(XMLValidator.validate(svg), true)
    assert.not.match(svg, /<script|\bon\w+="|href|url\(|<foreignObject/i)
    assert.is(svg.match(/class="step /g)!.length, sequence.steps.length)
  })

  it('says how many are left out of a picture of a long log', async (context) => {
    const { root } = await worked(context)
    const said = root.records.find(({ type }) => type === 'message.added')!
    const records = [root.records[0]!, ...Array.from({ length: 1_500 }, () => said)]
    const sequence = actorSequence({ ...root, records })
    assert.match(sequenceSvg(sequence, 'a1'), '500 more')
    assert.match(sequenceMermaid(sequence), 'Note over a0: 500 more')
  })
})
