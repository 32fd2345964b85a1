import { basename, dirname } from 'node:path'
import { z } from 'zod'
import { describeIssues } from '../../../../src/protocol/errors.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { filesWithin, readRows, wrong, type Imported, type Importer, type ImportedTask } from './imported.ts'

const wants =
  'ic_ctf.json or ic_mbpp.json of a checkout: git clone https://github.com/princeton-nlp/intercode, then intercode/data/ctf/ic_ctf.json or intercode/data/python/mbpp/ic_mbpp.json'

/** Id of a task, which becomes part of a path. */
const taskId = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$/, 'is no number or plain name')
const base = { query: z.string().min(1), task_id: z.union([z.int().nonnegative(), taskId]) }

const ctfSchema = lazily(() =>
  z.object({ ...base, gold: z.string().min(1), setup: z.string().optional(), tags: z.array(z.string()).optional() }),
)
const pythonSchema = lazily(() =>
  z.object({ ...base, tests: z.array(z.string()).min(1), test_setup_code: z.string().optional() }),
)

const differs = [
  'The environments for Bash and SQL are not imported: they judge what a command did to a whole file system or database server in their own container, which a folder has no equal of.',
]

/** InterCode: the puzzles of its CTF environment, and the exercises of its Python environment. */
export const interCode: Importer = {
  title: 'InterCode',
  wants,
  async read(path) {
    const name = basename(path)
    if (/nl2bash|spider|bird|wikisql/.test(name)) throw wrong(`${path}: ${differs[0]} It should be ${wants}.`)
    const rows = await readRows(path, wants)
    const first = rows[0] as { readonly tests?: unknown } | undefined
    return first?.tests === undefined ? ctf(path, rows) : python(path, rows)
  },
}

function parsed<T>(schema: z.ZodType<T>, path: string, rows: readonly unknown[]): readonly T[] {
  return rows.map((row, at) => {
    const checked = schema.safeParse(row)
    if (checked.success) return checked.data
    throw wrong(`${path}: row ${at + 1}: ${describeIssues(checked.error)}. It should be ${wants}.`)
  })
}

async function ctf(path: string, rows: readonly unknown[]): Promise<Imported> {
  const all = parsed(ctfSchema(), path, rows)
  // Whatever has to be downloaded first cannot be had without a network.
  const offline = all.filter(({ setup }) => setup === undefined)
  const tasks: ImportedTask[] = []
  for (const { task_id: id, query, gold, tags = [] } of offline)
    tasks.push({
      task: {
        id: `ctf-${id}`,
        prompts: [`${query}\n\nWhat you need is in the current folder. Answer with the flag, picoCTF{…}.`],
        check: { answer: gold, name: 'flag' },
        tags,
      },
      files: await filesWithin(dirname(path), `task_assets/${id}`, isLeftOut),
    })
  const left = all.length - offline.length
  return {
    tasks,
    needs: [
      'The tools that puzzles are solved with, such as python3, file, strings, binwalk and sleuthkit, on this machine or in the image of --docker.',
    ],
    differs: [
      ...differs,
      ...(left === 0 ? [] : [`${left} puzzles are left out, as their files have to be downloaded first.`]),
      'The flag is given as the answer, and not with a command "submit"; who says it among other things has it too.',
    ],
  }
}

/** Returns true for the solution of a puzzle and for files of its harness. */
const isLeftOut = (path: string): boolean => /^(?:solution(?:\/|$)|\.placeholder$|\.ignore$)/.test(path)

function python(path: string, rows: readonly unknown[]): Imported {
  const tasks = parsed(pythonSchema(), path, rows).map(
    ({ task_id: id, query, tests, test_setup_code: setup = '' }): ImportedTask => {
      const name = /assert\s+(?:not\s+)?(?:\w+\()*?(\w+)\(/.exec(tests[0]!)?.[1]
      const named = name === undefined ? '' : ` The function is called ${name}.`
      return {
        task: {
          id: `python-${id}`,
          prompts: [`${query.trim()} Write it in Python to solution.py.${named} For example: ${tests[0]}`],
          check: { command: 'python3 check_solution.py', timeoutMs: 60_000, name: 'tests' },
          tags: ['python'],
        },
        check: new Map([
          [
            'check_solution.py',
            { text: ['from solution import *', setup.replaceAll('\r\n', '\n'), ...tests, ''].join('\n') },
          ],
        ]),
      }
    },
  )
  return {
    tasks,
    needs: ['python3, on this machine or in the image of --docker.'],
    differs: [
      ...differs,
      'All tests have to pass; the benchmark’s own reward is the share that do. The first test is told in the prompt, as it shows the arguments.',
    ],
  }
}
