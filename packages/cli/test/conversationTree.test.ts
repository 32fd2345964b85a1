import type { ConversationNode } from '../../../src/index.ts'
import { coloursFor } from '../src/terminal/colours.ts'
import { conversationTree } from '../src/chat/conversationTree.ts'
import { textWidth } from '../../charts/src/textWidth.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const plain = coloursFor({}, {})
// oxlint-disable-next-line no-control-regex -- the test looks for escape sequences
const escapes = /\u001B\[\d*[A-Za-z]/g
const coloured = coloursFor({ isTTY: true }, {})

const node = (id: number, parentId: number | null, text: string, tags: readonly string[] = []): ConversationNode => ({
  id,
  parentId,
  message: { role: 'user', content: [{ type: 'text', text }], source: 'prompt' },
  runId: 'a/r0',
  turnIndex: 0,
  stepId: id,
  tokens: 0,
  pathTokens: 0,
  depth: 1,
  tags: tags.map((lesson) => ({
    kind: 'lesson',
    text: lesson,
    turnIndex: 0,
    abandoned: [],
    evidence: { calls: [], changed: [] },
  })),
})

const view = (trunk: readonly ConversationNode[], abandoned: readonly ConversationNode[] = []) => ({
  trunk: () => [...trunk],
  abandoned: () => [...abandoned],
})

describe('the conversation tree', (it) => {
  it('names a note that has no words by its kind alone', () => {
    const lines = conversationTree(view([node(1, null, 'task', [' ']), node(2, 1, 'end')]), plain)
    assert.ok(
      lines.some((line) => line.endsWith('⚑ lesson')),
      lines.join('\n'),
    )
  })

  it('hangs each abandoned branch, and those inside it, on the step it left', () => {
    const trunk = [node(1, null, 'task', ['not so', 'nor so']), node(7, 1, 'good'), node(8, 7, 'end')]
    const abandoned = [
      node(2, 1, 'bad'),
      node(3, 2, 'worse'),
      node(4, 2, 'better'),
      node(5, 4, 'stuck'),
      node(6, 1, 'no'),
    ]
    assert.equal(conversationTree(view(trunk, abandoned), plain), [
      '● n1     user: task',
      '│ ⚑ lesson: not so',
      '│ ⚑ lesson: nor so',
      '├─╮',
      '│ ○ n2   user: bad',
      '│ ├─╮',
      '│ │ ○ n3  user: worse',
      '│ ○ n4   user: better',
      '│ ○ n5   user: stuck',
      '├─╮',
      '│ ○ n6   user: no',
      '● n7     user: good',
      '● n8     user: end',
    ])
  })

  it('draws what was abandoned after the head, and nothing for nothing', () => {
    assert.equal(conversationTree(view([]), plain), [])
    const tree = conversationTree(view([node(1, null, 'task')], [node(2, 1, 'bad')]), plain)
    assert.equal(tree, ['● n1     user: task', '├─╮', '│ ○ n2   user: bad'])
  })

  it('keeps to the columns, ends every colour on its line, and moves no cursor', () => {
    const long = `\u001B[2Jmany words ${'on one line '.repeat(20)}\nand another`
    const lines = conversationTree(view([node(1, null, long, [long])], [node(2, 1, long)]), coloured, 40)
    assert.equal(lines.map(textWidth), [40, 40, 3, 40])
    assert.equal(
      lines.map((line) => line.match(escapes)),
      [null, ['\u001B[33m', '\u001B[39m'], null, ['\u001B[2m', '\u001B[22m']],
    )
  })
})
