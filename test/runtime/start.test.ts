import { fileURLToPath, pathToFileURL } from 'node:url'
import { assert, describe, type CaseContext } from '../support/suite.ts'
import { cliCommand, startChild } from './cliChild.ts'
import type { StartReport } from './startProbe.ts'

const probe = new URL('./startProbe.ts', import.meta.url)
const source = (path: string): string => fileURLToPath(new URL(`../../src/${path}`, import.meta.url))

/** Runs a program to its end. */
async function started(context: CaseContext, args: readonly string[]): Promise<StartReport> {
  const { code, stderr } = await startChild(context, [process.execPath, '--import', probe.href, ...args], { input: '' })
    .ended
  assert.is(code, 0, stderr)
  return JSON.parse(stderr) as StartReport
}

const importing = (path: string): readonly string[] => [
  '--input-type=module',
  '--eval',
  `await import(${JSON.stringify(pathToFileURL(path))})`,
]

/** What of these is loaded. */
const among = ({ modules }: StartReport, unwanted: RegExp): readonly string[] =>
  modules.filter((address) => unwanted.test(address))

describe('a start', (it) => {
  it('of the library loads no server, no process, no page and no door of another', async (context) => {
    const report = await started(context, importing(source('index.ts')))
    const unwanted =
      /\/node_modules\/(?:ws|elkjs|@)|^node:(?:http|https|net|tls|child_process)$|\/runtime\/(?:bridge\/serve\.|inspector|cli|acp|agUi|stately|tracing)|\/src\/client\//
    assert.equal(among(report, unwanted), [])
    assert.ok(among(report, /\/node_modules\/zod\//).length > 0, 'modules are seen at all')
  })

  it('of the library makes no segmenter, and no table of what characters look like', async (context) => {
    const { segmenters, normalForms, tables } = await started(context, importing(source('index.ts')))
    assert.equal({ segmenters, normalForms }, { segmenters: 0, normalForms: 0 })
    assert.ok(tables <= 1, `${tables} tables were made; nanoid makes one`)
  })

  it('of the client loads nothing of Node', async (context) => {
    assert.equal(among(await started(context, importing(source('client.ts'))), /^node:|\/node_modules\/(?!zod\/)/), [])
  })

  for (const args of [['--help'], ['help', 'run'], ['--version'], []])
    it(`of the command line with ${args[0] === undefined ? 'nothing' : args.join(' ')} loads no package and no runtime`, async (context) => {
      const report = await started(context, cliCommand(args).slice(1))
      assert.equal(among(report, /\/node_modules\/|^node:(?!util$|process$)|\/src\/(?!runtime\/cli|protocol)/), [])
      assert.ok(report.modules.length < 20, `${report.modules.length} modules`)
    })
})
