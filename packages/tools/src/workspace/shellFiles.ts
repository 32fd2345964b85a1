import { randomUUID } from 'node:crypto'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { lexicalPath } from './paths.ts'
import {
  type ListOptions,
  pathError,
  type ReadOptions,
  type Workspace,
  type WorkspaceEntry,
  type WriteOptions,
} from './port.ts'

/** Outcome of a script. `code`: `null` if it was killed. */
export interface ScriptEnd {
  readonly code: number | null
  readonly out: Uint8Array
  readonly err: string
}

/** A place whose files are reached by scripts of its shell: a container, a sandbox elsewhere. */
export interface ShellPlace {
  readonly root: string
  /** Runs a script of `/bin/sh` with arguments, to its end. Rejects with the reason of the signal, or if the script could not be run. */
  run(script: string, args: readonly string[], signal: AbortSignal): Promise<ScriptEnd>
  /** Reads a part of an existing file, by its absolute path. */
  get(
    path: string,
    part: { readonly offset: number; readonly maxBytes: number; readonly size: number },
    signal: AbortSignal,
  ): Promise<Uint8Array>
  /** Creates a file, by its absolute path, in an existing folder. Rejects unless all of it was written. */
  put(path: string, bytes: Uint8Array, signal: AbortSignal): Promise<void>
}

/** Maximum length of the names in a list, in bytes. */
const maxListBytes = 32 * 1024 * 1024

/**
 * Beginning of each script: `$1` is the root and `$2` a path in it, which becomes `$at`. Ends the
 * script at a link, because its target may change, and a rule may name the target by another path.
 */
const begin = `
say() { printf '%s\\n' "$1"; exit 0; }
root=$1 rest=$2 at=$1
if [ "$rest" = . ]; then rest=; fi
while [ -n "$rest" ]; do
  case $rest in
    */*) name=\${rest%%/*} rest=\${rest#*/} ;;
    *) name=$rest rest= ;;
  esac
  at=$at/$name
  if [ -L "$at" ]; then
    printf 'link\\n'
    cd "$root" && pwd -P && readlink -f "$root/$2"
    exit 0
  fi
  if [ -n "$rest" ] && [ -e "$at" ] && [ ! -d "$at" ]; then say below; fi
done
shift 2
`
const look = `${begin}
if [ ! -e "$at" ]; then say missing; fi
if [ -d "$at" ]; then say folder; fi
if [ ! -f "$at" ]; then say other; fi
if [ ! -r "$at" ]; then say denied; fi
stat -c 'file %s %a' "$at"
`
/** `$1`: name of the new file beside the old one. */
const prepare = `${begin}
if [ -d "$at" ]; then say folder; fi
if [ -e "$at" ] && [ ! -f "$at" ]; then say other; fi
mkdir -p "\${at%/*}" && say ok
`
/** `$1`: name of the new file; `$2`: permissions, or nothing; `$3`: hash that is expected, \`none\` for no file, or nothing. */
const commit = `${begin}
new=\${at%/*}/$1
if [ -d "$at" ]; then say folder; fi
if [ -f "$at" ]; then
  if [ -n "$3" ]; then
    hash=$(sha256sum < "$at") || exit 1
    if [ "\${hash%% *}" != "$3" ]; then say changed; fi
  fi
  if [ ! -w "$at" ]; then say denied; fi
  chmod "$(stat -c %a "$at")" "$new" || exit 1
else
  if [ -n "$3" ] && [ "$3" != none ]; then say gone; fi
  if [ -n "$2" ]; then chmod "$2" "$new" || exit 1; fi
fi
mv -f "$new" "$at" && say ok
`
const discard = `${begin}
rm -f "\${at%/*}/$1"
`
const erase = `${begin}
if [ ! -e "$at" ]; then say missing; fi
if [ ! -d "$at" ]; then rm -f "$at" && say ok; exit 1; fi
set -- "$at"/* "$at"/.[!.]* "$at"/..?*
for one do if [ -e "$one" ] || [ -L "$one" ]; then say full; fi; done
rmdir "$at" && say ok
`
/**
 * Gives each entry, with a letter for its kind before it. `$1`: `deep` or not; `$2`: names of folders that are not entered, each between slashes; `$3`: how
 * many entries. Not by `find`: kinds of it differ in what they can do, and take names apart.
 */
const names = `${begin}
if [ ! -e "$at" ]; then say missing; fi
if [ ! -d "$at" ]; then say file; fi
cd "$at" || exit 1
printf 'folder\\n'
deep=$1 skip=$2 left=$3
give() {
  if [ "$left" = 0 ]; then exit 0; fi
  left=$((left - 1))
  printf '%s\\0' "$1"
}
walk() {
  for one in "$1"* "$1".[!.]* "$1"..?*; do
    if [ -L "$one" ]; then give "l$one"
    elif [ -f "$one" ]; then give "f$one"
    elif [ ! -d "$one" ]; then continue
    elif [ "$deep" != deep ]; then give "d$one"
    else
      case $skip in
        */"\${one##*/}"/*) ;;
        *) walk "$one/" ;;
      esac
    fi
  done
}
walk ''
exit 0
`

const types: { readonly [letter: string]: WorkspaceEntry['type'] } = { f: 'file', l: 'link', d: 'folder' }

const reasons: { readonly [said: string]: readonly [code: Parameters<typeof pathError>[0], reason: string] } = {
  missing: ['WORKSPACE_MISSING', 'does not exist'],
  below: ['WORKSPACE_PATH', 'goes through a file as if it were a folder'],
  folder: ['WORKSPACE_KIND', 'is a folder, not a file; use list_files to see inside'],
  file: ['WORKSPACE_KIND', 'is a file, not a folder'],
  full: ['WORKSPACE_KIND', 'is a folder that is not empty'],
  other: ['WORKSPACE_KIND', 'is not a regular file'],
  denied: ['WORKSPACE_REFUSED', 'may not be accessed: permission denied'],
  changed: ['WORKSPACE_CHANGED', 'was changed by something else meanwhile; read it again'],
  gone: ['WORKSPACE_CHANGED', 'is gone'],
}

/** Implements file access through a shell: `sh`, `find`, `stat`, `readlink`, `mv`, `chmod` and `sha256sum`, as in busybox and the usual images. */
export function shellFiles(place: ShellPlace): Pick<Workspace, 'read' | 'write' | 'remove' | 'list'> {
  const { root } = place

  /** Runs a script about a path; resolves to its first line and the bytes after it. Rejects if that line reports a problem. */
  async function ask(
    script: string,
    path: string,
    { signal, args = [], expect }: { signal: AbortSignal; args?: readonly string[]; expect: readonly string[] },
  ): Promise<{ readonly said: string; readonly rest: Uint8Array }> {
    signal.throwIfAborted()
    const lexical = lexicalPath(root, path)
    const { code, out, err } = await place.run(script, [root, lexical, ...args], signal)
    const end = out.indexOf(10)
    const said = new TextDecoder().decode(out.subarray(0, end === -1 ? out.length : end))
    const rest = out.subarray(end === -1 ? out.length : end + 1)
    if (code === 0 && expect.some((one) => said === one || said.startsWith(`${one} `))) return { said, rest }
    if (said === 'link') throw behindLink(path, new TextDecoder().decode(rest))
    const known = reasons[said]
    if (known !== undefined) throw pathError(known[0], path, known[1])
    throw (
      ofSystem(path, err) ??
      new Error(`its shell said ${JSON.stringify(`${said} ${err}`.trim().slice(0, 500))}, with code ${code}`)
    )
  }

  async function write(path: string, bytes: Uint8Array, { signal, mode, expect }: WriteOptions): Promise<void> {
    if (lexicalPath(root, path) === '.') throw pathError('WORKSPACE_KIND', path, 'is the workspace itself, not a file')
    await ask(prepare, path, { signal, expect: ['ok'] })
    const name = `.${randomUUID()}.tmp`
    const lexical = lexicalPath(root, path)
    const folder = lexical.slice(0, lexical.lastIndexOf('/') + 1)
    try {
      await place.put(`${root}/${folder}${name}`, bytes, signal).catch((thrown: unknown) => {
        throw (thrown instanceof Error ? ofSystem(path, thrown.message) : undefined) ?? thrown
      })
      signal.throwIfAborted()
      // From here on it is done as a whole, and no longer stopped.
      const args = [name, mode === undefined ? '' : mode.toString(8), expect === null ? 'none' : (expect ?? '')]
      await ask(commit, path, { signal: new AbortController().signal, args, expect: ['ok'] })
    } catch (thrown) {
      await place.run(discard, [root, lexical, name], new AbortController().signal).catch(() => {})
      throw thrown
    }
  }

  async function* list(
    path: string,
    { signal, limit, deep, skip = new Set() }: ListOptions,
  ): AsyncGenerator<WorkspaceEntry, void, undefined> {
    const skipped = [...skip].map((name) => `/${name}/`).join('')
    const args = [deep ? 'deep' : 'flat', skipped, String(limit)]
    const { rest } = await ask(names, path, { signal, args, expect: ['folder'] })
    for (const name of new TextDecoder().decode(rest.subarray(0, maxListBytes)).split('\0')) {
      const type = types[name[0] ?? '']
      if (type !== undefined) yield { path: name.slice(1), type }
    }
  }

  return {
    async read(path, { signal, maxBytes, offset = 0 }: ReadOptions) {
      const { said } = await ask(look, path, { signal, expect: ['file', 'missing'] })
      if (said === 'missing') return null
      const [, size = 0, mode = 0] = said.split(' ').map((part, index) => Number.parseInt(part, index === 2 ? 8 : 10))
      const bytes =
        offset >= size || maxBytes === 0
          ? new Uint8Array()
          : await place.get(`${root}/${lexicalPath(root, path)}`, { offset, maxBytes, size }, signal)
      return { bytes, size: Math.max(size, offset + bytes.length), mode }
    },
    write,
    async remove(path, { signal }) {
      if (lexicalPath(root, path) === '.') throw pathError('WORKSPACE_KIND', path, 'is the workspace itself')
      await ask(erase, path, { signal, expect: ['ok'] })
    },
    list,
  }
}

/** Returns an error that names the path behind a link, by which rules can judge it. */
function behindLink(path: string, rest: string): RuntimeError {
  const [realRoot = '', real = ''] = rest.split('\n')
  if (real.startsWith(`${realRoot}/`)) {
    const name = JSON.stringify(real.slice(realRoot.length + 1))
    return pathError('WORKSPACE_PATH', path, `leads through a symbolic link; use ${name}`)
  }
  return pathError(
    'WORKSPACE_PATH',
    path,
    real === ''
      ? 'leads through a broken symbolic link, which may point outside the workspace; use another path'
      : 'is outside the workspace, by a symbolic link; use another path',
  )
}

/** Converts the complaint of a program into a workspace error; `undefined` if it is unknown. */
function ofSystem(path: string, said: string): RuntimeError | undefined {
  if (/no space left|quota exceeded|ENOSPC|EDQUOT/i.test(said))
    return pathError('WORKSPACE_FULL', path, 'could not be written: the disk is full')
  if (/permission denied|read-only file system|operation not permitted|EACCES|EROFS|EPERM/i.test(said))
    return pathError('WORKSPACE_REFUSED', path, 'may not be changed: permission denied')
  if (/file name too long|ENAMETOOLONG/i.test(said)) return pathError('WORKSPACE_PATH', path, 'is too long a name')
  return undefined
}

/** Quotes a word for a shell. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** Returns a command line that first removes variables from its environment. Invalid names of variables are left out. */
export function withoutVariables(command: string, env: { readonly [name: string]: string | undefined }): string {
  const gone = Object.keys(env).filter((name) => env[name] === undefined && /^[A-Za-z_]\w*$/.test(name))
  return gone.length === 0 ? command : `unset ${gone.join(' ')}\n${command}`
}

/** Returns the variables that have a value. */
export const setVariables = (env: { readonly [name: string]: string | undefined }): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined))

/** Error of a workspace that was closed. */
export const closedError = (root: string): RuntimeError =>
  new RuntimeError('WORKSPACE_CLOSED', `The workspace ${root} is closed.`)
