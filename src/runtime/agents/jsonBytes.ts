const encoder = new TextEncoder()
const notAscii = /[\u0080-\uffff]/g

/** Fewest characters for each one beyond ASCII at which an escape of six characters is worth it. */
const rare = 32

/** JSON as bytes. Pure ASCII is read several times as fast, so few other characters are written as escapes. */
export function jsonBytes(json: string): Uint8Array<ArrayBuffer> {
  const others = json.match(notAscii)?.length ?? 0
  return encoder.encode(others > 0 && others <= json.length / rare ? json.replace(notAscii, escaped) : json)
}

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
