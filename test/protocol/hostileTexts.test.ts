import { quotedFrom } from '../../packages/tools/src/remembering/taint.ts'
import { conversationMarkdown } from '../../packages/sessions/src/conversationMarkdown.ts'
import { readTestRun } from '../../packages/cli/src/embedded/testRun.ts'
import { isRepairTask } from '../../packages/cli/src/embedded/phrases.ts'
import { textPieces } from '../../packages/cli/src/commands/replay.ts'
import { wordWrapped } from '../../packages/cli/src/terminal/wordWrap.ts'
import { missingNames } from '../../src/conversation/brakes/fold/fidelity.ts'
import type { ConversationNode } from '../../src/conversation/tree/node.ts'
import { termsOf } from '../../src/conversation/tree/searchSteps.ts'
import { safeNames } from '../../packages/evaluation/src/plan.ts'
import { jsonParts } from '../../packages/page/src/inspector/model/words/jsonParts.ts'
import { oneLine } from '../../packages/page/src/inspector/model/words/shortText.ts'
import { matches } from '../../packages/openapi/src/choices.ts'
import { resultOf } from '../../packages/openapi/src/answers.ts'
import { placed } from '../../packages/openapi/src/parameters.ts'
import { serversOf } from '../../packages/openapi/src/servers.ts'
import { foreignFormat } from '../../packages/stores/src/foreignFormat.ts'
import { readJson } from '../../src/protocol/checks/readOutput.ts'
import { schemaCheck } from '../../packages/schemas/src/schemaCheck.ts'
import { withoutEnd, withoutEnds } from '../../src/protocol/text/textEnds.ts'
import { plainError } from '../../packages/words/src/withoutContent.ts'
import { linkTargets } from '../../packages/charts/src/text/markdown.ts'
import { placeOfKey } from '../../packages/tools/src/userFiles/placeOfKey.ts'
import { placeOfThrown } from '../../packages/tools/src/userFiles/importModule.ts'
import { actorPorts, userSays } from '../support/actorPorts.ts'
import { assert, describe } from '../support/suite.ts'

/** So much of it that whatever begins anew at each place does not come to its end before the case is over. */
const long = 200_000
const many = (text: string): string => text.repeat(long / text.length)

const call = (input: unknown): readonly ConversationNode[] => [
  {
    stepId: 1,
    message: { role: 'assistant', content: [{ type: 'toolCall', callId: 'c', name: 'look', input }] },
  } as unknown as ConversationNode,
]
const names = (input: unknown): readonly string[] => missingNames('', call(input))
const path = { name: 'x', operationId: undefined, method: 'GET', tags: [] } as const
const stackOf = (line: string): Error => Object.assign(new Error('x'), { stack: line })

const hostile: Readonly<Record<string, () => unknown>> = {
  'the end of an answer that was cut': () =>
    resultOf(new Response(`${many('\uFFFD')}x${many('y')}`, { headers: { 'content-type': 'text/plain' } }), {
      maxBytes: 3 * long + 10,
      fields: undefined,
      redact: undefined,
    }),
  'patterns of a schema': () =>
    [many('['), many('(?:'), '(a+)+$', '(a|a)'.repeat(200), '^(?=(\\w+)*$)'].map((pattern) =>
      schemaCheck({ pattern, patternProperties: { [pattern]: {} } }).wrongIn(`${many('a')}!`),
    ),
  'fences of an answer': () => readJson(`x${many('```\n```JSON\nO')}\`\`\``),
  'names of a call': () => names({ a: `_${many('a')}` }),
  'blank lines of a text that is quoted': () =>
    quotedFrom(actorPorts({}, [userSays(`${many('\n\t')}I like tea with milk.`)]), 'I like tea with milk.'),
  'braces of an address': () => {
    assert.throws(() => serversOf([{ url: many('{') }], undefined, '#'))
    placed(`/${many('{')}`, [], {})
  },
  'quotations of an error': () => plainError({ code: 'OUTPUT_INVALID', message: many(String.raw`"\"\ `) }),
  'blanks of a row': () => wordWrapped(`a${many('\u001B[m ')}b${many(' ')}c`, 1_000_000),
  'lines before an export': () => foreignFormat(many('\r{')),
  'labels of links': () => linkTargets(`]:${many('[\r')}`),
  'a word of a query': () => termsOf(`${many('a-')}${many('-')}b`),
  'the name of an arm': () => safeNames([`a${many('-')}b`]),
  'strings of JSON that was cut': () => jsonParts(`"${many(String.raw`\"`)}`),
  'spaces of a short line': () => oneLine(many(' '), long),
  'the output of tests': () =>
    readTestRun(`${many('\n\t')}${many('0/')}${many('1')}${many('[aborted after 1 s')}${many('a')} is not`, true),
  'a task for a program': () => isRepairTask(many('make ')),
  'a text that is played': () => textPieces(many(' ')),
  'operations of a document': () => matches('a*b*c*d*e', { ...path, path: many('abcd') }),
  'strings of a configuration': () => placeOfKey(`${many(`'\\`)}\n${many('/*')}`, ['a']),
  'frames of an error': () => placeOfThrown(stackOf(`    at ${many('/e')}:1:${many('1')}x`), '/x'),
  'signs at the ends of a text': () => [withoutEnd(`${many('/')}x`, '/'), withoutEnds(`x${many('-')}x`, '-')],
  'Markdown that is taken out': () =>
    conversationMarkdown(many(' '), [userSays(`${many('`')}\n${many('` ')}\n${many('- ')}x`)]),
}

describe('a text of others takes no longer than its length', (it) => {
  for (const [title, run] of Object.entries(hostile)) it(title, async () => void (await run()))
})

describe('what is taken of texts of others', (it) => {
  it('are the names that calls mention: paths, and compound words', () => {
    assert.equal(names({ p: 'src/aB.ts', v: '1.2.3', w: 'plain word' }), ['src/aB.ts'])
    assert.equal(names({ p: 'fooBar and snake_case, 9/last_one' }), ['fooBar', 'snake_case', 'last_one'])
  })

  it('is no quotation of an error, closed or not', () => {
    const plain = (message: string): string => plainError({ code: 'OUTPUT_INVALID', message }).split(' The')[0]!
    assert.match(plain(String.raw`not "a \" b" but "c`), /^not "…" but "…"/)
  })

  it('is the one fenced block of an answer', () => {
    assert.equal(readJson('so:\n```json\n{"a":1}\n```\nthat is all'), { value: { a: 1 } })
    assert.equal(readJson('```\r\n1\r\n```\r\n'), { value: 1 })
    assert.is(readJson('```\n1\n```\n```\n2\n```'), undefined)
    assert.is(readJson('```\n1\n'), undefined)
  })

  it('is an operation by a pattern whose stars stand for anything', () => {
    const operation = { ...path, path: '/a/b' }
    assert.ok(['*', 'GET*', '*/b', 'G*a*b', 'GET /a/b*'].every((pattern) => matches(pattern, operation)))
    assert.not.ok(['*a', 'G*b*a', 'GET /a/b*b', 'q*'].some((pattern) => matches(pattern, operation)))
  })

  it('is the place of an error in the files of a folder', () => {
    for (const line of [
      '    at run (/x/a (b)/c.ts:3:7)',
      '    at async /x/a (b)/c.ts:3:7',
      '    at file:///x/a%20(b)/c.ts:3:7',
      '/x/a (b)/c.ts:3',
    ])
      assert.is(placeOfThrown(stackOf(`Error: x\n${line}`), '/x'), '/x/a (b)/c.ts:3', line)
    assert.is(placeOfThrown(stackOf('    at run (/y/c.ts:3:7)'), '/x'), undefined)
  })
})
