import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { startChild } from '../cli/cliChild.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'
import { packedPackage } from './packedPackage.ts'

const repository = join(import.meta.dirname, '..', '..')
const installed = (name: string): string => join(repository, 'node_modules', name)

/** Doors whose types are of an optional package, which is all that may be missing. */
const needing: Readonly<Record<string, string | readonly string[]>> = {
  './acp': '@agentclientprotocol/sdk',
  './ag-ui': '@ag-ui/core',
  './otel': '@opentelemetry/api',
  './react': 'react',
  './restate': ['@restatedev/restate-sdk', '@restatedev/restate-sdk-clients'],
}

const mcpProgram = `
import { createRuntime, defineAgent, policyModel } from 'escapement'
import { fileAuth, mcpServer, mcpTools, type McpAuth } from 'escapement/mcp'

const auth: McpAuth = fileAuth('tokens')
const tools = [mcpTools({ name: 'tickets', url: 'https://tickets.example.org/mcp', auth })]
const clerk = defineAgent({ name: 'clerk', model: policyModel(() => 'ok'), tools })
const runtime = await createRuntime()
await runtime.serve({ definitions: [clerk], endpoints: [mcpServer(runtime, [clerk]).endpoint()] })
`

/** A project with the package and what it depends on, and nothing that is optional. */
async function bareProject({ cleanup, signal }: CaseContext): Promise<string> {
  const packed = await packedPackage(signal)
  const folder = await mkdtemp(join(tmpdir(), 'escapement-types-'))
  cleanup(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const modules = join(folder, 'node_modules')
  await mkdir(join(modules, '@types'), { recursive: true })
  await cp(join(packed, 'dist'), join(modules, 'escapement', 'dist'), {
    recursive: true,
    filter: (path) => !/\.(?:js|map|css|html)$/.test(path),
  })
  await cp(join(packed, 'package.json'), join(modules, 'escapement', 'package.json'))
  const { dependencies } = JSON.parse(await readFile(join(packed, 'package.json'), 'utf8')) as { dependencies: object }
  for (const name of [...Object.keys(dependencies), '@types/node', 'undici-types'])
    await symlink(installed(name), join(modules, name), 'junction')
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  const compilerOptions = {
    strict: true,
    skipLibCheck: false,
    noEmit: true,
    target: 'es2024',
    module: 'nodenext',
    types: ['node'],
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  return folder
}

describe('the declarations of the package', (it) => {
  it(
    'need no optional package, but where a door is for that package alone',
    { timeoutMs: 240_000 },
    async (context) => {
      const folder = await bareProject(context)
      const { exports: doors } = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8')) as {
        exports: Readonly<Record<string, unknown>>
      }
      for (const [door, target] of Object.entries(doors))
        if (typeof target === 'object')
          await writeFile(
            join(folder, `${door.replaceAll(/\W/g, '_')}.ts`),
            `export * from 'escapement${door.slice(1)}'\n`,
          )
      await writeFile(join(folder, 'program.ts'), mcpProgram)
      const tsc = installed(join('typescript', 'bin', 'tsc'))
      const command = [process.execPath, tsc, '--singleThreaded', '--pretty', 'false', '-p', folder]
      const { stdout } = await startChild(context, command, { cwd: dirname(folder), input: '' }).ended
      const problems = stdout.split('\n').filter((line) => line.includes('error TS'))
      const missing = problems.map((line) => /error TS2307: Cannot find module '([^']+)'/.exec(line)?.[1] ?? line)
      assert.equal([...new Set(missing)].toSorted(), Object.values(needing).flat().toSorted(), problems.join('\n'))
    },
  )
})
