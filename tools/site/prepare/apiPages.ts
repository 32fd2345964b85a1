import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { promisify } from 'node:util'
import { outsideCode } from './outsideCode.ts'
import { optionTable, optionTables, type Option } from './optionTables.ts'
import { readable } from './readable.ts'
import { pageText, plain } from './pageText.ts'
import type { SitePage } from './sitePage.ts'
import { addressFrom } from './slugs.ts'
import { sourcesKey } from './sourcesKey.ts'

/** Where the API of a version is read, and what reads it. */
export interface ApiSources {
  /** The version's folder, with `src` and `package.json`. */
  readonly root: string
  /** A folder with `node_modules` that has TypeDoc. */
  readonly packages: string
  /** Where what was made is kept, by what it was made of. */
  readonly kept: string
  readonly signal?: AbortSignal | undefined
}

/** Options of functions, beside the pages that TypeDoc makes. */
const optionsFile = 'options.json'

/** A door of the package: `escapement/client`. */
interface Door {
  readonly name: string
  /** Its source without ending: `client`. */
  readonly file: string
}

/** The doors that `exports` of package.json opens. */
async function doorsOf(root: string): Promise<readonly Door[]> {
  const { name, exports } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    readonly name: string
    readonly exports: Readonly<Record<string, string | { readonly default: string }>>
  }
  return Object.entries(exports).flatMap(([door, to]) =>
    typeof to === 'string' ? [] : [{ name: posix.join(name, door), file: posix.basename(to.default, '.js') }],
  )
}

/**
 * The reference of all that the package exports, a page for each name, made from the types and their comments by TypeDoc. Pages that were
 * made from the same sources before are reused.
 */
export async function apiPages(sources: ApiSources): Promise<readonly SitePage[]> {
  const doors = await doorsOf(sources.root)
  const folder = await referenceIn(sources, doors)
  const names = (await readdir(folder, { recursive: true })).map((name) => name.replaceAll('\\', '/'))
  const errors = await errorCodes(sources.root)
  const options = new Map(
    Object.entries(JSON.parse(await readFile(join(folder, optionsFile), 'utf8')) as Record<string, readonly Option[]>),
  )
  const files = names.filter((name) => name.endsWith('.md') && name !== 'README.md').toSorted()
  const pages = files.map(async (file) =>
    pageOf(file, await readFile(join(folder, file), 'utf8'), { doors, errors, options }),
  )
  return [overview(doors), ...(await Promise.all(pages))]
}

async function referenceIn({ root, packages, kept, signal }: ApiSources, doors: readonly Door[]): Promise<string> {
  const target = join(kept, await sourcesKey(root, import.meta.filename, join(packages, 'package-lock.json')))
  if (existsSync(target)) return target
  await mkdir(kept, { recursive: true })
  const draft = await mkdtemp(join(kept, 'draft-'))
  try {
    const options = typeDocOptions(root, draft, doors)
    await writeFile(join(draft, 'tsconfig.json'), JSON.stringify(options.tsconfig))
    await writeFile(join(draft, 'typedoc.json'), JSON.stringify(options.typedoc))
    const typedoc = join(packages, 'node_modules', 'typedoc', 'bin', 'typedoc')
    await promisify(execFile)(process.execPath, [typedoc, '--options', join(draft, 'typedoc.json')], {
      cwd: packages,
      maxBuffer: 64 * 1024 * 1024,
      signal,
    }).catch((thrown: unknown) => {
      const { stdout = '', stderr = '' } = thrown as { stdout?: string; stderr?: string }
      throw new Error(`TypeDoc failed:\n${stdout}\n${stderr}`, { cause: thrown })
    })
    const modules = doors.map(({ file }) => file)
    const tables = Object.fromEntries(optionTables(root, packages, modules))
    await writeFile(join(draft, 'out', optionsFile), JSON.stringify(tables))
    await rename(join(draft, 'out'), target).catch((thrown: unknown) => {
      if (!existsSync(target)) throw thrown
    })
    return target
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

function typeDocOptions(root: string, draft: string, doors: readonly Door[]) {
  const entryPoints = doors.map(({ file }) => join(root, 'src', `${file}.ts`))
  return {
    tsconfig: {
      extends: join(root, 'tsconfig.json'),
      compilerOptions: {
        lib: ['es2024', 'esnext.disposable', 'dom', 'dom.iterable'],
        typeRoots: [join(root, 'node_modules', '@types')],
      },
      include: [join(root, 'src', '*.ts')],
      exclude: [],
    },
    typedoc: {
      entryPoints,
      tsconfig: join(draft, 'tsconfig.json'),
      plugin: ['typedoc-plugin-markdown'],
      out: join(draft, 'out'),
      router: 'member',
      readme: 'none',
      // The repository's own compiler checks them; the one that TypeDoc brings is older.
      skipErrorChecking: true,
      // What is said in passing of a type that is not exported is no mistake.
      validation: false,
      disableSources: true,
      excludeInternal: true,
      excludePrivate: true,
      hideBreadcrumbs: true,
      hidePageHeader: true,
      useCodeBlocks: true,
      indexFormat: 'table',
      // A reader comes for a function; its types are a link away.
      groupOrder: ['Functions', 'Variables', 'Classes', 'Interfaces', '*'],
      parametersFormat: 'table',
      interfacePropertiesFormat: 'table',
      classPropertiesFormat: 'table',
      typeDeclarationFormat: 'table',
      propertyMembersFormat: 'table',
      enumMembersFormat: 'table',
      logLevel: 'Error',
    },
  } as const
}

async function errorCodes(root: string): Promise<ReadonlySet<string>> {
  const file = join(root, 'docs', 'errors.md')
  const text = existsSync(file) ? await readFile(file, 'utf8') : ''
  return new Set([...text.matchAll(/^## ([A-Z_]+)$/gm)].map(([, code]) => code!))
}

/** `client/interfaces/RemoteAgent.md` at `api/client/remote-agent`. Kinds stay apart where names differ by their case alone. */
function apiSlug(file: string): string {
  // Astro takes `index` for the page of a folder.
  const path = file
    .replace(/^index\//, 'escapement/')
    .replace(/(?:^|\/)README\.md$/, '')
    .replace(/\.md$/, '')
  return posix.join('api', path.replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase())
}

interface Surroundings {
  readonly doors: readonly Door[]
  readonly errors: ReadonlySet<string>
  /** By door and function. */
  readonly options: ReadonlyMap<string, readonly Option[]>
}

function pageOf(file: string, markdown: string, { doors, errors, options }: Surroundings): SitePage {
  const { title, description, body } = pageText(markdown.replaceAll('\\_', '_'))
  const slug = apiSlug(file)
  const door = doors.find((each) => file.startsWith(`${each.file}/`))!
  const isDoor = file === `${door.file}/README.md`
  const [, kind = '', name = title] = /^(\w[\w ]*): (.+)$/.exec(title) ?? []
  const front = isDoor ? '' : `\`${kind.toLowerCase()}\` of \`${door.name}\`\n\n`
  const own = options.get(`${door.file}/${plain(name).replace(/\(\)$/, '')}`)
  return {
    slug,
    title: isDoor ? door.name : plain(name).replace(/\\?<.*$/, ''),
    description: isDoor
      ? `Everything that ${door.name} exports.`
      : description.length > 10
        ? description
        : `${kind} of ${door.name}.`,
    body: front + linked(slug, file, readable(withOptions(body, own)), errors),
    isShort: !isDoor && !/^(?:Interface|Class)$/.test(kind),
  }
}

/** A function's page with its options, which stand after its parameters. */
function withOptions(body: string, options: readonly Option[] | undefined): string {
  if (options === undefined) return body
  const at = body.indexOf('\n## Returns')
  const table = `\n## Options\n\n${optionTable(options)}\n`
  return at === -1 ? `${body}\n${table}` : `${body.slice(0, at)}${table}${body.slice(at)}`
}

const link = /\]\(([^)\s]+\.md)(#[^)\s]*)?\)/g
const code = /`([A-Z]+(?:_[A-Z]+)*)`/g

function linked(slug: string, file: string, body: string, errors: ReadonlySet<string>): string {
  const links = outsideCode(body, (prose) =>
    prose.replaceAll(link, (_, to: string, hash = '') => {
      const target = posix.join(posix.dirname(file), to)
      return `](${addressFrom(slug, apiSlug(target))}${hash})`
    }),
  )
  return links.replaceAll(code, (whole, name: string) =>
    errors.has(name) ? `[${whole}](${addressFrom(slug, 'errors')}#${name.toLowerCase()})` : whole,
  )
}

function overview(doors: readonly Door[]): SitePage {
  const rows = doors.map(({ name, file }) => `- [\`${name}\`](${addressFrom('api', apiSlug(`${file}/README.md`))})`)
  const body = `Everything that the package exports, made from the types and their comments. Each module is imported by its name; those that need an optional package load it when they are used.\n\n${rows.join('\n')}`
  return { slug: 'api', title: 'API reference', description: 'Everything that the package exports.', body }
}
