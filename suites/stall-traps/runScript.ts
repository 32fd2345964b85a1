import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { defineTool } from '../../src/index.ts'

/**
 * A tool that runs a script of the project, `node <file> <arguments>`. Unlike a command line it may run again, so that a loop of it can be
 * taken back.
 */
export const runScript = (dir: string) =>
  defineTool({
    name: 'run_script',
    description: 'Runs a script that package.json names, and returns what it printed. Without a network.',
    input: z.object({
      name: z.string().describe('Its name in package.json.'),
      args: z.array(z.string()).optional().describe('Arguments, in this order.'),
    }),
    effects: 'idempotent',
    timeoutMs: 30_000,
    run: async ({ name, args = [] }, { signal }) => {
      const { scripts = {} } = JSON.parse(await readFile(join(dir, 'package.json'), 'utf8')) as {
        scripts?: Readonly<Record<string, string>>
      }
      const [node, ...rest] = Object.hasOwn(scripts, name) ? scripts[name]!.split(' ') : []
      if (node !== 'node') throw new Error(`There is no script "${name}". Scripts: ${Object.keys(scripts).join(', ')}.`)
      return new Promise<string>((resolve, reject) => {
        const options = { cwd: dir, signal, env: { PATH: process.env['PATH'], NO_COLOR: '1' }, maxBuffer: 1_000_000 }
        execFile(process.execPath, [...rest, ...args], options, (error, stdout, stderr) => {
          const text = `${stdout}${stderr}`.trim()
          if (error === null) resolve(text === '' ? '(no output)' : text)
          else reject(new Error(text === '' ? error.message : text))
        })
      })
    },
  })
