import { assert, describe } from '../../../test/support/suite.ts'
import { parseCommandLine } from '../src/commandLine.ts'
import { commands } from '../src/commandList.ts'
import { examples } from '../src/examples.ts'
import { commandHelp, fittedHelp, helpText } from '../src/helpText.ts'

/** The words of a line as a shell parts them, without what is redirected. */
const wordsOf = (line: string): string[] =>
  [...line.replace(/ >.*$/, '').matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!)

describe('the help of a command', (it) => {
  it('has an example of every command', () => {
    assert.equal(Object.keys(examples).toSorted(), Object.keys(commands).toSorted())
  })

  it('has examples that the command line takes', () => {
    for (const [name, rows] of Object.entries(examples))
      for (const [line] of rows) {
        const parsed = parseCommandLine(wordsOf(line), commands)
        assert.is(parsed.type === 'command' ? parsed.invocation.command : parsed, name, line)
      }
  })

  it('fits any terminal, breaks no word, and keeps its columns and actions apart', () => {
    const texts = [helpText(commands), ...Object.entries(commands).map(([name, each]) => commandHelp(name, each))]
    const words = (text: string): string[] => text.split(/\s+/)
    for (const text of texts) {
      assert.is(fittedHelp(text, 100), text)
      for (const columns of [40, 50, 80]) {
        const fitted = fittedHelp(text, columns)
        for (const line of fitted.split('\n')) assert.ok(line.length <= columns, line)
        if (columns > 40) assert.equal(words(fitted), words(text))
      }
    }
    assert.match(
      fittedHelp(helpText(commands), 80),
      '\n  escapement eval <suite>            try an agent on tasks, with brakes and\n                                     without\n',
    )
    assert.match(fittedHelp(commandHelp('memory', commands['memory']!), 60), /record in full\.\nconfirm <id>: /)
  })

  it('ends with them', () => {
    assert.match(
      commandHelp('fork', commands['fork']!),
      /\nExamples:\n {2}# .+\n {2}escapement fork 5dGm2k --at n12\n$/,
    )
  })
})
