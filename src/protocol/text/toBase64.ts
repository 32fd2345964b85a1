/** Number of bytes converted at a time, as a call takes a limited number of arguments. */
const chunk = 32 * 1024

/** Encodes bytes as base64, on any platform. */
export function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += chunk) text += String.fromCharCode(...bytes.subarray(at, at + chunk))
  return btoa(text)
}
