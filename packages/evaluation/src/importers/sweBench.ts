import { z } from 'zod'
import { describeIssues } from '../../../../src/protocol/errors.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { imageName } from '../suite/task.ts'
import { idOf, readRows, wrong, type Importer, type ImportedTask } from './imported.ts'
import { quoted } from '../../../charts/src/text/shellWord.ts'

const wants =
  "SWE-bench Verified as JSON lines: pip install datasets, then python -c \"from datasets import load_dataset; load_dataset('SWE-bench/SWE-bench_Verified', split='test').to_json('verified.jsonl')\""

/** Schema of a list of tests: the dataset has it as JSON in a text, some copies as a list. */
const tests = z.union([z.array(z.string()), z.string().transform((text, context) => listIn(text, context))])

function listIn(text: string, context: z.RefinementCtx): string[] {
  try {
    const list: unknown = JSON.parse(text)
    if (Array.isArray(list) && list.every((name) => typeof name === 'string')) return list
  } catch {
    // Said below.
  }
  context.addIssue({ code: 'custom', message: 'is not a list of tests' })
  return []
}

const rowSchema = lazily(() =>
  z.object({
    instance_id: z.string().refine((id) => imageName.safeParse(imageOf(id)).success, 'is part of no name of an image'),
    repo: z.string().regex(/^[\w.-]+\/[\w.-]+$/, 'is not owner/name'),
    base_commit: z.string().regex(/^[0-9a-f]{7,40}$/, 'is not a commit'),
    problem_statement: z.string().min(1),
    test_patch: z
      .string()
      .refine((patch) => !patchedPaths(patch).some((path) => /(?:^|\/)-/.test(path)), 'names a file that is an option'),
    version: z.string().optional(),
    difficulty: z.string().optional(),
    FAIL_TO_PASS: tests,
    PASS_TO_PASS: tests,
  }),
)
type Row = z.output<ReturnType<typeof rowSchema>>

/** Commands that run the tests of a repository; repositories that are not named here use pytest. */
const commands: Readonly<Record<string, string>> = {
  'django/django': './tests/runtests.py --verbosity 2 --settings=test_sqlite --parallel 1',
  'sympy/sympy': 'bin/test -C --verbose',
  'sphinx-doc/sphinx': 'tox --current-env -epy39 -v --',
  'astropy/astropy': 'pytest -rA -vv -o console_output_style=classic --tb=no',
  'mwaskom/seaborn': 'pytest --no-header -rA',
}
const usualCommand = 'pytest -rA'

const checkFolder = '.swe-check'

/** Path of the repository in the image, from which the package is installed. */
const place = '/testbed'

/** Beginning of a command that runs the code. */
const enter = '. /opt/miniconda3/etc/profile.d/conda.sh && conda activate testbed'

/** SWE-bench Verified: issues of Python projects, with the tests in an image for each. */
export const sweBench: Importer = {
  title: 'SWE-bench Verified',
  wants,
  async read(path) {
    const rows = (await readRows(path, wants)).map((row, at) => {
      const checked = rowSchema().safeParse(row)
      if (!checked.success)
        throw wrong(`${path}: row ${at + 1}: ${describeIssues(checked.error)}. It should be ${wants}.`)
      return checked.data
    })
    return {
      tasks: rows.map(taskOf),
      others: new Map([['images.sh', imagesScript(rows.map(({ instance_id: id }) => id))]]),
      needs: ['Docker with the images of the tasks, about a gigabyte each: sh <suite>/images.sh'],
      differs: [
        `The workspace is a copy of ${place} of the image, in the place of that in a container of its own for every command: what a command changes elsewhere is gone after it.`,
        'Tests are judged by the lines that they print, by rules of our own and not those of the benchmark’s harness: compare passes of one suite, not with the leaderboard.',
        'Lists of tests come from the dataset; names that the harness mends for single repositories are taken as they are.',
      ],
    }
  },
}

function taskOf(row: Row): ImportedTask {
  const { instance_id: id, repo, base_commit: base, test_patch: patch, difficulty } = row
  const paths = patchedPaths(patch)
  const command = `${commands[repo] ?? usualCommand} ${testsOf(repo, paths).map(quoted).join(' ')}`
  return {
    task: {
      id: idOf(id),
      image: { name: imageOf(id), mount: place },
      prompts: [
        `${row.problem_statement.trim()}\n\nThe repository ${repo} is in the current folder. Change it so that this is solved; hidden tests will be run. ` +
          `Commands run without a network. Begin one that runs the code with: ${enter}`,
      ],
      setup: `cp -a ${place}/. .`,
      check: { command: `sh ${checkFolder}/check.sh`, timeoutMs: 1_800_000, name: 'tests' },
      tags: [repo, ...(difficulty === undefined ? [] : [difficulty])],
    },
    check: new Map([
      [`${checkFolder}/test.patch`, { text: patch }],
      [
        `${checkFolder}/tests.json`,
        { text: JSON.stringify({ failToPass: row.FAIL_TO_PASS, passToPass: row.PASS_TO_PASS }) },
      ],
      [`${checkFolder}/judge.py`, { text: judge }],
      [`${checkFolder}/check.sh`, { text: checkScript(base, paths, command) }],
    ]),
  }
}

/** Returns the name of an image; it cannot have two underscores in a row. */
const imageOf = (id: string): string =>
  `swebench/sweb.eval.x86_64.${id.toLowerCase().replaceAll('__', '_1776_')}:latest`

const imagesScript = (ids: readonly string[]): string =>
  `#!/bin/sh\n# The images of the tasks.\nset -e\n${ids.map((id) => `docker pull ${quoted(imageOf(id))}\n`).join('')}`

const patchedPaths = (patch: string): readonly string[] =>
  Array.from(patch.matchAll(/^diff --git a\/.+ b\/(.+)$/gm), ([, path]) => path!)

/** Matches files of a test patch that are data and not tests. */
const dataFile = /\.(?:json|png|csv|txt|md|jpe?g|pkl|ya?ml|toml)$/

/** Returns the tests of a patch in the form that the runner of the repository takes. */
const testsOf = (repo: string, paths: readonly string[]): readonly string[] => {
  const files = paths.filter((path) => !dataFile.test(path))
  if (repo !== 'django/django') return files
  return files.map((path) =>
    path
      .replace(/\.py$/, '')
      .replace(/^tests\//, '')
      .replaceAll('/', '.'),
  )
}

const checkScript = (base: string, paths: readonly string[], command: string): string => `#!/bin/sh
# Puts the tests as the benchmark has them over whatever stands there, runs them, and judges what they printed.
set -e
${enter}
${paths.map((path) => `git checkout -q ${base} -- ${quoted(path)} 2>/dev/null || true`).join('\n')}
git apply --verbose ${checkFolder}/test.patch
set +e
${command} > ${checkFolder}/output.txt 2>&1
tail -c 20000 ${checkFolder}/output.txt
python ${checkFolder}/judge.py ${checkFolder}/output.txt ${checkFolder}/tests.json
`

/** Program that reads the output of pytest, of Django's runner and of SymPy's. */
const judge = `import json
import re
import sys

output, wanted = sys.argv[1:]
status = {}
for line in open(output, errors="replace"):
    line = line.rstrip()
    found = re.match(r"(PASSED|XFAIL|FAILED|ERROR|SKIPPED)\\s+(\\S.*)", line)
    if found:
        word, name = found.groups()
        if word in ("FAILED", "ERROR"):
            name = name.split(" - ")[0]
        status[name] = word in ("PASSED", "XFAIL")
        continue
    found = re.match(r"(.+?) (?:\\.\\.\\. +)?(ok|OK|FAIL|ERROR|F|E)$", line)
    if found:
        status[found.group(1)] = found.group(2).lower() == "ok"
tests = json.load(open(wanted))
broken = [name for kind in ("failToPass", "passToPass") for name in tests[kind] if not status.get(name, False)]
for name in broken[:50]:
    print("not passed:", name)
print(len(broken), "of", sum(map(len, tests.values())), "tests did not pass")
sys.exit(1 if broken else 0)
`
