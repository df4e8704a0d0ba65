//! Display adapters of the kernel, and the values in their keys (DRV-37, LAY-49).

use super::run_time::Module;
use crate::memory::Grow;
use crate::registry::sources::{Answer, TakeAnswer};
use crate::registry::values::{REG_MULTI_SZ, REG_SZ};
use alloc::format;
use alloc::vec::Vec;
use core::ptr::null_mut;
use windows_sys::Wdk::Graphics::Direct3D::{
    D3DDDI_QUERYREGISTRY_ADAPTERKEY, D3DDDI_QUERYREGISTRY_FLAGS, D3DDDI_QUERYREGISTRY_FLAGS_0,
    D3DDDI_QUERYREGISTRY_INFO, D3DDDI_QUERYREGISTRY_STATUS_BUFFER_OVERFLOW, D3DDDI_QUERYREGISTRY_STATUS_SUCCESS,
    D3DKMT_ADAPTERINFO, D3DKMT_CLOSEADAPTER, D3DKMT_ENUMADAPTERS2, D3DKMT_QUERYADAPTERINFO, KMTQAITYPE_QUERYREGISTRY,
};
use windows_sys::Win32::Foundation::{NTSTATUS, STATUS_BUFFER_TOO_SMALL, STATUS_SUCCESS};

type Enumerate = unsafe extern "system" fn(*mut D3DKMT_ENUMADAPTERS2) -> NTSTATUS;
type Query = unsafe extern "system" fn(*mut D3DKMT_QUERYADAPTERINFO) -> NTSTATUS;
type Close = unsafe extern "system" fn(*const D3DKMT_CLOSEADAPTER) -> NTSTATUS;

/// Upper bound on the adapter count; larger values are reduced to this bound.
const MOST_ADAPTERS: u32 = 1024;
/// Upper bound on the number of queries for a list or value that grows from one query to the next.
const ATTEMPTS: u32 = 4;
/// Upper bound on the size of a value in bytes.
const MOST_BYTES: usize = 1 << 20;
/// Offset of a value's data in the answer, and the number of data bytes that fit into the answer's type itself.
const DATA: usize = core::mem::offset_of!(D3DDDI_QUERYREGISTRY_INFO, Anonymous);
const OWN_BYTES: usize = size_of::<D3DDDI_QUERYREGISTRY_INFO>() - DATA;
/// Flag that makes paths below the folder of a driver's package absolute.
const TRANSLATE_PATH: u32 = 1;

/// Queries a value of all adapters, and passes the answers to `take`. Does nothing if the kernel lacks the functions for such a query.
pub(super) fn each(value: &str, take: &mut TakeAnswer<'_>) {
    let Some(module) = Module::of_system(c"gdi32.dll") else {
        return;
    };
    // SAFETY: the variables for the results have the types that the system documents for the named functions.
    let functions = unsafe {
        (
            module.function(c"D3DKMTEnumAdapters2"),
            module.function(c"D3DKMTQueryAdapterInfo"),
            module.function(c"D3DKMTCloseAdapter"),
        )
    };
    let (Some(enumerate), Some(query), Some(close)) = functions else {
        return;
    };
    let close: Close = close;
    for adapter in adapters(enumerate) {
        let luid = adapter.AdapterLuid;
        let name = format!("display adapter {:08x}-{:08x}", luid.HighPart, luid.LowPart);
        match value_of(adapter.hAdapter, value, query) {
            Some((kind, data)) => take(name.as_bytes(), Answer::Value(kind, &data)),
            None => take(name.as_bytes(), Answer::Missing),
        }
        let opened = D3DKMT_CLOSEADAPTER {
            hAdapter: adapter.hAdapter,
        };
        // SAFETY: the enumeration opened this adapter for this process, and the loop closes each adapter once.
        unsafe { close(&opened) };
    }
}

/// Opens all adapters.
fn adapters(enumerate: Enumerate) -> Vec<D3DKMT_ADAPTERINFO> {
    // An adapter may be added between two queries, so the loop repeats the query, at most `ATTEMPTS` times.
    for _ in 0..ATTEMPTS {
        let mut room = Vec::new();
        let mut asked = D3DKMT_ENUMADAPTERS2 {
            NumAdapters: 0,
            pAdapters: null_mut(),
        };
        // SAFETY: with a null array, the call returns the number of adapters.
        let told = unsafe { enumerate(&mut asked) };
        let most = asked.NumAdapters.min(MOST_ADAPTERS);
        if told != STATUS_SUCCESS || room.try_exact_room(most as usize).is_err() {
            break;
        }
        room.resize_with(most as usize, D3DKMT_ADAPTERINFO::default);
        asked = D3DKMT_ENUMADAPTERS2 {
            NumAdapters: most,
            pAdapters: room.as_mut_ptr(),
        };
        // SAFETY: `room` is large enough for the number of adapters.
        match unsafe { enumerate(&mut asked) } {
            STATUS_SUCCESS => {
                room.truncate(asked.NumAdapters as usize);
                return room;
            }
            STATUS_BUFFER_TOO_SMALL => {}
            _ => break,
        }
    }
    Vec::new()
}

/// Returns the type and data of a value of an adapter: a list of texts, or else one text. The kernel requires the correct type in the
/// query.
fn value_of(adapter: u32, value: &str, query: Query) -> Option<(u32, Vec<u8>)> {
    [REG_MULTI_SZ, REG_SZ]
        .into_iter()
        .find_map(|kind| Some((kind, data_of(adapter, value, kind, query)?)))
}

/// Returns the data of a value of the type `kind`.
///
/// Queries in the same two steps as the Khronos loader: the first call has no buffer and returns the size. The second call passes that size
/// in the request, and has a buffer of that size after the request. A system may rely on either the size in the request or the size of the
/// buffer.
fn data_of(adapter: u32, value: &str, kind: u32, query: Query) -> Option<Vec<u8>> {
    let mut asked = D3DDDI_QUERYREGISTRY_INFO {
        QueryType: D3DDDI_QUERYREGISTRY_ADAPTERKEY,
        QueryFlags: D3DDDI_QUERYREGISTRY_FLAGS {
            Anonymous: D3DDDI_QUERYREGISTRY_FLAGS_0 { Value: TRANSLATE_PATH },
        },
        ValueType: kind,
        ..Default::default()
    };
    for (to, unit) in asked.ValueName.iter_mut().zip(value.encode_utf16()) {
        *to = unit;
    }
    let mut bytes = 0;
    // The value may grow between two queries, so the loop repeats the query, at most `ATTEMPTS` times.
    for _ in 0..ATTEMPTS {
        asked.OutputValueSize = bytes as u32;
        // `room` consists of 64-bit words, so that the answer is aligned.
        let mut room = Vec::<u64>::new();
        room.try_exact_room((size_of::<D3DDDI_QUERYREGISTRY_INFO>() + bytes) / 8 + 1)
            .ok()?;
        room.resize(room.capacity(), 0);
        let answer = room.as_mut_ptr().cast::<D3DDDI_QUERYREGISTRY_INFO>();
        // SAFETY: `room` is large enough for the structure, and aligned.
        unsafe { answer.write(asked) };
        let mut question = D3DKMT_QUERYADAPTERINFO {
            hAdapter: adapter,
            Type: KMTQAITYPE_QUERYREGISTRY,
            pPrivateDriverData: answer.cast(),
            PrivateDriverDataSize: (size_of::<D3DDDI_QUERYREGISTRY_INFO>() + bytes) as u32,
        };
        // SAFETY: the adapter is open, and `room` has this size.
        let told = unsafe { query(&mut question) };
        // SAFETY: the structure was written above, and the kernel overwrites only numbers.
        let (status, size) = unsafe { ((*answer).Status, (*answer).OutputValueSize as usize) };
        match status {
            _ if told != STATUS_SUCCESS => return None,
            D3DDDI_QUERYREGISTRY_STATUS_SUCCESS if size <= bytes.max(OWN_BYTES) => {
                // SAFETY: `size` bytes follow the head of the answer, and all of them were initialised with `room`.
                let data = unsafe { core::slice::from_raw_parts(answer.cast::<u8>().add(DATA), size) };
                return crate::memory::copy(data).ok();
            }
            D3DDDI_QUERYREGISTRY_STATUS_SUCCESS | D3DDDI_QUERYREGISTRY_STATUS_BUFFER_OVERFLOW
                if size > bytes && size <= MOST_BYTES =>
            {
                bytes = size;
            }
            _ => return None,
        }
    }
    None
}
