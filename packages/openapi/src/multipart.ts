import { randomUUID } from 'node:crypto'

/** One part of a multipart form. */
export interface FormPart {
  readonly name: string
  readonly value: string | Uint8Array<ArrayBuffer>
  /** Content type of the part. Without it the part is text. */
  readonly type?: string | undefined
  /** File name, which makes the part a file. */
  readonly fileName?: string | undefined
}

interface MultipartBody {
  readonly body: Uint8Array<ArrayBuffer>
  readonly contentType: string
}

/** Encodes parts as `multipart/form-data`. It does not use `FormData`, which gives every part with a type a file name: JSON would be an upload. */
export function multipartOf(parts: readonly FormPart[]): MultipartBody {
  const boundary = `----form-${randomUUID()}`
  const pieces = parts.flatMap(({ name, value, type, fileName }) => [
    `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(name)}"`,
    fileName === undefined ? '' : `; filename="${escaped(fileName)}"`,
    type === undefined ? '\r\n\r\n' : `\r\nContent-Type: ${type.replaceAll(/[\r\n]+/g, ' ')}\r\n\r\n`,
    value,
    '\r\n',
  ])
  return {
    body: new Uint8Array(
      Buffer.concat([...pieces, `--${boundary}--\r\n`].map((piece) => Buffer.from(piece as string))),
    ),
    contentType: `multipart/form-data; boundary=${boundary}`,
  }
}

/** Escapes a name as browsers do. Pure. */
const escaped = (name: string): string => name.replaceAll('"', '%22').replaceAll(/\r\n|\r|\n/g, '%0D%0A')

/** File extensions that differ from the second half of their type. */
const endings: { readonly [type: string]: string } = {
  'text/plain': 'txt',
  'text/markdown': 'md',
  'text/javascript': 'js',
  'image/jpeg': 'jpg',
  'audio/mpeg': 'mp3',
  'video/quicktime': 'mov',
}

/** Returns a file name with the extension of its type, by which services tell formats. Pure. */
export function fileNameOf(name: string, type: string | undefined): string {
  const [whole = ''] = (type ?? '').toLowerCase().split(';')
  const [, ownEnding] = /^[a-z]+\/(?:x-)?([a-z0-9]{2,5})(?:\+[a-z]+)?$/.exec(whole.trim()) ?? []
  const ending = endings[whole.trim()] ?? ownEnding
  return ending === undefined ? name : `${name}.${ending}`
}
