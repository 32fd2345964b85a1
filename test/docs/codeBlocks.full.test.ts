import { execFile, type ExecFileException } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { assert, describe } from '../support/suite.ts'
import { advice, codeBlocks, docComments, placeOf, repository, stageBlocks, type StagedBlock } from './codeBlocks.ts'
import { mark } from './runBlocks.ts'

interface Ended {
  readonly output: string
  readonly error: ExecFileException | null
}

const node = (
  args: readonly string[],
  options: { readonly signal: AbortSignal; readonly cwd: string },
): Promise<Ended> =>
  new Promise((resolve) => {
    execFile(process.execPath, args, { ...options, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) =>
      resolve({ output: stdout + stderr, error }),
    )
  })

/** Output of the compiler, in lines of the pages. */
function inPages(output: string, blocks: readonly StagedBlock[]): readonly string[] {
  return output.split('\n').flatMap((said) => {
    const [, file, line, message] = /^(?:.*[\\/])?([\w-]+\.tsx?)\((\d+),\d+\): (.*)/.exec(said) ?? []
    if (message === undefined) return said.trim() === '' ? [] : [said]
    const block = blocks.find((each) => basename(each.file) === file)
    return [block === undefined ? said : `${placeOf(block, Number(line))}: ${message}`]
  })
}

describe('the ts blocks of README, docs and doc comments', (it) => {
  it('compile in strict mode', { timeoutMs: 120_000 }, async (context) => {
    const blocks = await stageBlocks(context)
    assert.ok(blocks.filter(({ page }) => page.endsWith('.md')).length > 15)
    assert.ok(blocks.filter(({ page }) => page.startsWith('src/')).length > 15)
    const folder = dirname(blocks[0]!.file)
    const config = {
      extends: '../../tsconfig.json',
      compilerOptions: {
        noUnusedLocals: false,
        noUnusedParameters: false,
        // Rules of this repository, not of `strict`.
        noPropertyAccessFromIndexSignature: false,
        moduleDetection: 'force',
        jsx: 'react-jsx',
        // Of the sources, only what has changed since the last run is checked.
        incremental: true,
        tsBuildInfoFile: join(repository, '.escapement', 'blocks.tsbuildinfo'),
      },
      include: ['*.ts', '*.tsx'],
      exclude: [],
    }
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
    const tsc = join(repository, 'node_modules', 'typescript', 'bin', 'tsc')
    // Several checkers would each check much of the same, and other tests want the cores.
    const { output, error } = await node([tsc, '--singleThreaded', '--pretty', 'false', '-p', folder], {
      signal: context.signal,
      cwd: folder,
    })
    if (error !== null) assert.unreachable([...inPages(output, blocks), advice].join('\n'))
  })

  it('run, unless they are marked', { timeoutMs: 120_000 }, async (context) => {
    const blocks = (await stageBlocks(context)).filter(({ isRun }) => isRun)
    const files = blocks.map(({ file }) => file)
    const script = join(import.meta.dirname, 'runBlocks.ts')
    const { output } = await node([script, ...files], { signal: context.signal, cwd: dirname(files[0]!) })
    const failed = blocks.flatMap((block) => {
      const [start = '', end = ''] = mark(block.file, '\n').split('\n')
      const at = output.indexOf(start)
      if (at === -1) return [`${placeOf(block)}: did not come to its end, or one before it did not`]
      const said = output.slice(at + start.length, output.indexOf(end, at))
      return said === '' ? [] : [`${placeOf(block)}: ${said}`]
    })
    if (failed.length > 0) assert.unreachable([...failed, advice].join('\n'))
  })

  it('are found with the line they begin in and their mark', () => {
    const page = 'One\n\n```ts\nconst a = 1\n```\n\n```sh\nls\n```\n```ts no-run\nb()\n```\n```tsx\n<b />\n```\n'
    assert.equal(codeBlocks('docs/a.md', page), [
      { page: 'docs/a.md', line: 4, code: 'const a = 1\n', language: 'ts', isRun: true },
      { page: 'docs/a.md', line: 11, code: 'b()\n', language: 'ts', isRun: false },
      { page: 'docs/a.md', line: 14, code: '<b />\n', language: 'tsx', isRun: false },
    ])
    for (const fence of ['```typescript', '```ts norun', '  ```ts', '```js', '```tsx no-run'])
      assert.throws(() => codeBlocks('docs/a.md', `\n${fence}\nb()\n\`\`\`\n`), /^docs\/a\.md:2: open a block with/)
  })
  it('are found in doc comments, at their lines', () => {
    const source =
      "const a = '```ts'\n\n  /**\n   * Adds.\n   *\n   * @example\n   * ```ts\n   * add(1)\n   * ```\n   */\n"
    assert.equal(codeBlocks('src/a.ts', docComments(source)), [
      { page: 'src/a.ts', line: 8, code: 'add(1)\n', language: 'ts', isRun: true },
    ])
  })
})
