/** Colours of a language. The name of a group in the pattern is the kind of its matches. Words in `keywords` are keywords. */
export interface Grammar {
  readonly pattern: RegExp
  readonly keywords: ReadonlySet<string>
}

const slashes = String.raw`\/\/[^\n]*|\/\*[^]*?(?:\*\/|$(?![^]))`
const hash = String.raw`(?<![^\s;(])#[^\n]*`
const quoted = (mark: string): string => String.raw`${mark}(?:\\[^]|[^${mark}\\\n])*${mark}?`
const single = quoted("'")
const double = quoted('"')
const template = '`(?:\\\\[^]|[^`\\\\])*`?'
const triple = `(?:'''[^]*?(?:'''|$(?![^]))|"""[^]*?(?:"""|$(?![^])))`
const number = String.raw`(?<![\w.])(?:0[xXbBoO][\da-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)\w?`
const word = String.raw`[A-Za-z_$][\w$]*`

interface Parts {
  readonly comment?: string
  readonly string?: string
  readonly keywords?: string
  readonly extra?: string
}

function grammar({ comment, string, keywords = '', extra }: Parts): Grammar {
  const groups = [
    comment === undefined ? undefined : `(?<comment>${comment})`,
    extra,
    string === undefined ? undefined : `(?<string>${string})`,
    `(?<number>${number})`,
    `(?<word>${word})`,
  ]
  return { pattern: new RegExp(groups.filter(Boolean).join('|'), 'gm'), keywords: new Set(keywords.split(' ')) }
}

const ofC =
  'auto bool boolean break case catch char class const constexpr continue default delete do double else enum explicit extends extern ' +
  'false final finally float for foreach friend goto if implements import in inline instanceof int interface internal is lock long ' +
  'namespace new null nullptr operator out override package private protected public readonly record ref return sealed short ' +
  'signed sizeof static string struct super switch synchronized template this throw throws true try typedef typename union ' +
  'unsigned using var virtual void volatile when where while yield fun val object data companion func let guard protocol ' +
  'extension init self nil async await'

const made: Readonly<Record<string, () => Grammar>> = {
  js: () =>
    grammar({
      comment: slashes,
      string: `${single}|${double}|${template}`,
      keywords:
        'abstract any as async await boolean break case catch class const continue debugger declare default delete do else enum ' +
        'export extends false finally for from function get if implements import in infer instanceof interface is keyof let ' +
        'never new null number of private protected public readonly return satisfies set static string super switch this throw ' +
        'true try type typeof undefined unknown using var void while with yield',
    }),
  json: () =>
    grammar({
      comment: slashes,
      extra: String.raw`(?<name>"(?:\\[^]|[^"\\\n])*"(?=\s{0,20}:))`,
      string: double,
      keywords: 'true false null',
    }),
  python: () =>
    grammar({
      comment: hash,
      string: `${triple}|${single}|${double}`,
      extra: String.raw`(?<name>^[ \t]{0,80}@[\w.]+)`,
      keywords:
        'False None True and as assert async await break case class continue def del elif else except finally for from global if ' +
        'import in is lambda match nonlocal not or pass raise return self try while with yield',
    }),
  shell: () =>
    grammar({
      comment: hash,
      string: String.raw`'[^']*'?|"(?:\\[^]|[^"\\])*"?`,
      extra: String.raw`(?<name>\$(?:\w+|\{[^}\n]*\}?))`,
      keywords:
        'case cd do done echo elif else esac exit export fi for function if in local read return set source then trap unset until while',
    }),
  go: () =>
    grammar({
      comment: slashes,
      string: `${double}|${single}|${template}`,
      keywords:
        'any bool break byte case chan const continue default defer else error fallthrough false float64 for func go goto if import ' +
        'int int64 interface map nil package range return rune select string struct switch true type var',
    }),
  rust: () =>
    grammar({
      comment: slashes,
      // A lone quote begins a lifetime.
      string: String.raw`${double}|'(?:\\[^\n]{1,8}|[^'\\\n])'`,
      extra: String.raw`(?<name>#!?\[[^\]\n]*\]|\b\w+!)`,
      keywords:
        'as async await bool break const continue crate dyn else enum extern false fn for i32 i64 if impl in let loop match mod move mut ' +
        'pub ref return self Self static str struct super trait true type u8 u32 u64 unsafe use usize where while',
    }),
  c: () =>
    grammar({
      comment: slashes,
      string: `${double}|${single}`,
      extra: String.raw`(?<name>^[ \t]{0,80}#\w+|(?<![\w])@\w+)`,
      keywords: ofC,
    }),
  ruby: () =>
    grammar({
      comment: hash,
      string: `${double}|${single}`,
      extra: String.raw`(?<name>(?<![\w:]):\w+|@{1,2}\w+)`,
      keywords:
        'BEGIN END alias and begin break case class def do else elsif end ensure false for if in module next nil not or raise redo ' +
        'require rescue retry return self super then true undef unless until when while yield',
    }),
  sql: () => {
    const keywords =
      'add all alter and as asc between by case create cross delete desc distinct drop else end exists false from full group having ' +
      'if in index inner insert into is join key left like limit not null on or order outer primary references returning right select ' +
      'set table then true union unique update using values view when where with'
    return grammar({
      comment: String.raw`--[^\n]*|\/\*[^]*?(?:\*\/|$(?![^]))`,
      string: `${single}|${double}`,
      keywords: `${keywords} ${keywords.toUpperCase()}`,
    })
  },
  yaml: () =>
    grammar({
      comment: hash,
      extra: String.raw`(?<name>(?<=^[ \t-]{0,80})[\w./-]+(?=:(?:\s|$)))`,
      string: `${double}|${single}`,
      keywords: 'true false null yes no on off',
    }),
  toml: () =>
    grammar({
      comment: hash,
      extra: String.raw`(?<name>^[ \t]{0,80}\[[^\]\n]*\]|(?<=^[ \t]{0,80})[\w.-]+(?=[ \t]{0,80}=))`,
      string: `${triple}|${double}|${single}`,
      keywords: 'true false',
    }),
  css: () =>
    grammar({
      comment: slashes,
      string: `${double}|${single}`,
      extra: String.raw`(?<name>--[\w-]+|[@.#][A-Za-z_-][\w-]*)|(?<keyword>(?<![\w-])[a-z-]{1,60}(?=[ \t]{0,20}:))`,
    }),
  html: () =>
    grammar({
      comment: String.raw`<!--[^]*?(?:-->|$(?![^]))`,
      extra: String.raw`(?<keyword><\/?[A-Za-z!][\w:.-]*|\/?>)|(?<name>\b[\w:@.-]{1,80}(?==["'{]))`,
      string: String.raw`(?<==)(?:"[^"<]*"?|'[^'<]*'?)`,
    }),
  diff: () =>
    grammar({
      comment: String.raw`^(?:diff|index|---|\+\+\+)[^\n]*`,
      extra: String.raw`(?<name>^@@[^\n]*)|(?<added>^\+[^\n]*)|(?<removed>^-[^\n]*)`,
    }),
}

const aliases: Readonly<Record<string, string>> = {
  javascript: 'js',
  typescript: 'js',
  ts: 'js',
  tsx: 'js',
  jsx: 'js',
  mjs: 'js',
  cjs: 'js',
  mts: 'js',
  cts: 'js',
  jsonc: 'json',
  json5: 'json',
  jsonl: 'json',
  py: 'python',
  sh: 'shell',
  bash: 'shell',
  zsh: 'shell',
  console: 'shell',
  dockerfile: 'shell',
  makefile: 'shell',
  golang: 'go',
  rs: 'rust',
  h: 'c',
  cpp: 'c',
  cc: 'c',
  hpp: 'c',
  'c++': 'c',
  cs: 'c',
  csharp: 'c',
  java: 'c',
  kt: 'c',
  kotlin: 'c',
  swift: 'c',
  scala: 'c',
  dart: 'c',
  php: 'c',
  rb: 'ruby',
  yml: 'yaml',
  ini: 'toml',
  scss: 'css',
  less: 'css',
  xml: 'html',
  svg: 'html',
  vue: 'html',
  patch: 'diff',
}

const grammars = new Map<string, Grammar>()

/** Returns the grammar of a language, by its name or a usual short form. `undefined` if there is none. Made at its first use. */
export function grammarOf(language: string): Grammar | undefined {
  const given = language.toLowerCase()
  const name = Object.hasOwn(aliases, given) ? aliases[given]! : given
  const known = grammars.get(name)
  if (known !== undefined || !Object.hasOwn(made, name)) return known
  const created = made[name]!()
  grammars.set(name, created)
  return created
}
